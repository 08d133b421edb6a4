import CLinux
import Glibc

/// A thread outside Swift's pool, for work that blocks in a system call.
public enum SystemThread {
  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a detached thread that ends with `body`.
  ///
  /// It receives no signals: writing to a broken pipe returns an error, and the daemon's signals go to other threads.
  public static func start(name: String, body: @escaping @Sendable () -> Void) throws(SystemCallError) {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let context = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        _ = cl_name_thread(start.name)
        start.body()
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      context.release()
      throw SystemCallError("start thread \(name)", status)
    }
    pthread_detach(thread)
  }
}
