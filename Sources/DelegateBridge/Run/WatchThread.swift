import CLinux
import Glibc

/// A thread for one run: it blocks in `poll`, which a task must not.
enum WatchThread {
  private final class Start {
    let body: @Sendable () -> Void
    init(body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread that blocks all signals: a write to a closed input then fails with an error number.
  ///
  /// - Returns: false if the thread can't be created; `body` is not called then.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 512 * 1024)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))

    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let context = Unmanaged.passRetained(Start(body: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        _ = cl_name_thread("provider")
        start.body()
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      context.release()
      return false
    }
    return true
  }
}
