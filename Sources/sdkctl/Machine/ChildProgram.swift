import Glibc

/// Another program that is run to its end. Its input comes from memory, and so is not visible in its arguments.
struct ChildProgram {
  /// The exit status, or 128 + the signal.
  let status: Int32
  /// The bytes of its standard output.
  let output: [UInt8]
  /// The first line of its standard error.
  let complaint: String

  /// Runs a program.
  ///
  /// - Parameters:
  ///   - program: its path, or a name that is looked up in PATH.
  ///   - input: its standard input; at most 64 KiB, the capacity of a pipe.
  ///   - deadline: the time at which it is killed; `nil` for none.
  /// - Throws: `CommandFailure` when it can't be started, or has not ended in time.
  init(
    _ program: String, _ arguments: [String], input: [UInt8] = [], until deadline: ContinuousClock.Instant? = nil
  ) throws {
    do {
      let ended = try ChildProcess([program] + arguments, input: input).end(until: deadline)
      status = ended.status
      output = ended.bytes
      complaint = ended.errors.split(separator: "\n").first.map(String.init) ?? ""
    } catch {
      throw CommandFailure(
        message: "\(program) can't be run: \(error.description).", reason: "program", status: 1)
    }
  }
}

extension ChildProgram {
  /// The path of the daemon's program: beside this one, else its name, which is looked up in PATH.
  static var daemon: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard length > 0 else { return "sdkd" }
    let path = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { return "sdkd" }
    let beside = path[..<slash] + "/sdkd"
    return access(String(beside), X_OK) == 0 ? String(beside) : "sdkd"
  }
}
