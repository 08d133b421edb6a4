internal import CLinux
internal import Glibc

/// The start of threads outside Swift's pool, for work that blocks in a system call.
public enum SystemThread {
  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a detached thread that runs `body` and then ends.
  ///
  /// All signals are blocked in the thread: writing to a broken pipe returns an error, and the program's signals go to
  /// other threads.
  ///
  /// - Parameters:
  ///   - name: at most 15 bytes, for `ps` and debuggers.
  ///   - stackSize: in bytes; `nil` for the system's default, which name services may need.
  /// - Throws: the error of `pthread_create`. `body` is not called then.
  public static func start(
    name: String, stackSize: Int? = nil, body: @escaping @Sendable () -> Void
  ) throws(SystemCallError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }

    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let context = Unmanaged.passRetained(Start(name: name, body: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
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
  }
}

/// The error of a call to the kernel or to libsystemd.
public struct SystemCallError: Error, Hashable, CustomStringConvertible {
  /// The name of the call and its object, such as `connect to /run/x`.
  public let call: String
  /// The positive error number.
  public let errorNumber: Int32

  /// Creates an error. `errorNumber` may have either sign: positive as in `errno`, or negative as in libsystemd's
  /// results.
  public init(_ call: String, _ errorNumber: Int32) {
    self.call = call
    self.errorNumber = errorNumber < 0 ? 0 &- errorNumber : errorNumber
  }

  /// The call and the system's text for the error, such as `connect to /run/x: No such file or directory`.
  public var description: String { "\(call): \(Self.text(of: errorNumber))" }

  /// Returns the system's text for a positive error number, such as `No such file or directory`.
  public static func text(of errorNumber: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(errorNumber, &text, text.count - 1) == 0 else { return "error \(errorNumber)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
