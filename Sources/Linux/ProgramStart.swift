internal import CLinux
internal import Glibc

/// The start of other programs, and the replacement of this one.
///
/// A new program inherits signal mask, ignored signals and descriptors. The threads of Swift's pool block all signals,
/// so a program that they start could not be stopped with Ctrl-C. All programs of this package start others here, except
/// for token providers that the daemon starts itself: swift-subprocess takes the same care of those.
public enum ProgramStart {
  /// The signals that a new program blocks and ignores.
  public enum Signals: Sendable {
    /// None, for a program that a service runs.
    case none
    /// Those of this process when it was started, for a program that stands for the user's command: below nohup(1) it
    /// ignores SIGHUP, too.
    case asStarted
  }

  /// The descriptors that become standard input, output and error of a new program. All others are closed.
  public struct Streams: Sendable {
    public var input: CInt
    public var output: CInt
    public var error: CInt

    public init(input: CInt, output: CInt, error: CInt = 2) {
      (self.input, self.output, self.error) = (input, output, error)
    }
  }

  /// Starts a child process. The caller reaps it.
  ///
  /// - Parameters:
  ///   - words: the program, which is looked up in PATH unless it has a slash, and its arguments.
  ///   - environment: entries such as `HOME=/root`; `nil` for this process's own.
  ///   - newSession: whether the child leads a session and process group of its own.
  /// - Returns: its process id.
  public static func spawn(
    _ words: [String], environment: [String]? = nil, streams: Streams, signals: Signals, newSession: Bool = false
  ) throws(SystemCallError) -> CInt {
    let program = words.first ?? ""
    let pid = withArguments(words, environment) { argv, envp in
      cl_spawn(
        program, argv, envp, [streams.input, streams.output, streams.error], signals == .asStarted ? 1 : 0,
        newSession ? 1 : 0)
    }
    guard pid > 0 else { throw SystemCallError("start \(program)", pid) }
    return pid
  }

  /// Replaces this process by another program, which gets the signals that this process was started with and the
  /// descriptors without the flag `FD_CLOEXEC`. Returns only on failure.
  ///
  /// - Parameters:
  ///   - program: its path, or a name that is looked up in PATH; `nil` for the first word.
  ///   - environment: entries such as `HOME=/root`; `nil` for this process's own.
  ///   - ignored: more signals for the program to ignore.
  public static func replaceProcess(
    by words: [String], program: String? = nil, environment: [String]? = nil, ignoring ignored: [CInt] = []
  ) -> SystemCallError {
    let program = program ?? words.first ?? ""
    let failure = withArguments(words, environment) { cl_become(program, $0, $1, ignored, ignored.count) }
    return SystemCallError("execute \(program)", failure)
  }

  /// Calls a function with both lists as C expects them: ended by a null pointer.
  private static func withArguments(
    _ words: [String], _ environment: [String]?,
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>, UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> CInt
  ) -> CInt {
    let argv = words.map { strdup($0) } + [nil]
    let envp = environment.map { $0.map { strdup($0) } + [nil] }
    defer { for text in argv + (envp ?? []) { free(text) } }
    return argv.withUnsafeBufferPointer { argv in
      guard let first = argv.baseAddress else { return -EINVAL }
      guard let envp else { return body(first, nil) }
      return envp.withUnsafeBufferPointer { body(first, $0.baseAddress) }
    }
  }
}
