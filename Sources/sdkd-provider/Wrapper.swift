import Glibc
import JSONRPC
import Linux
import ProviderUnit

/// The run of a token provider for one connection that systemd accepted. The connection passes the question in, and the
/// program's output and exit status out.
///
/// It reports to the daemon how a program in another unit ended. It ends the program when the daemon no longer waits.
struct Wrapper {
  /// The program and its arguments.
  let arguments: [String]

  private static let exitUsage: Int32 = 64
  private static let exitData: Int32 = 65
  /// The longest accepted question, in bytes. The daemon's questions are far shorter.
  private static let longestQuestion = 1 << 20

  private static let usage = """
    usage: sdkd-provider PROGRAM [ARGUMENT...]

    Runs a token provider in a systemd unit: standard input and output are the connection that systemd accepted
    (StandardInput=socket). PROGRAM is an absolute path. See sdkd-provider(7).

    """

  /// Runs the program with the question from standard input, and writes its output and exit status to standard output.
  ///
  /// - Returns: the exit status of the program, in the form that a shell reports it.
  func run() -> Int32 {
    if arguments.first == "--help" {
      print(Self.usage, terminator: "")
      return 0
    }
    guard let program = arguments.first, program.hasPrefix("/") else {
      Self.tell(Self.usage, on: STDERR_FILENO)
      return Self.exitUsage
    }
    signal(SIGPIPE, SIG_IGN)
    guard let question = Self.read(atMost: Self.longestQuestion), let json = try? JSONParser.parse(question),
      json.objectValue != nil
    else {
      Self.tell("sdkd-provider: standard input is no question of sdkd: one JSON object\n", on: STDERR_FILENO)
      return Self.exitData
    }
    let variables = QuestionVariables.make(json)
    do throws(SpawnFailure) {
      let running = try RunningProgram(arguments, variables: variables)
      var relay = Relay(program: running, input: ProviderQuestion.programInput(json, received: question))
      return finish(relay.run())
    } catch {
      Self.tell(
        "sdkd-provider: \(program) can't be started: \(SystemCallError.text(of: error.code))\n", on: STDERR_FILENO)
      return finish(.exited(error.status))
    }
  }

  private func finish(_ status: ProviderStatus?) -> Int32 {
    // Without a status the daemon has closed the connection.
    guard let status else { return 128 + SIGTERM }
    Self.write(status.trailer, to: STDOUT_FILENO)
    switch status {
    case .exited(let number): return number
    case .signalled(let number): return 128 + number
    }
  }

  /// Returns all of standard input; `nil` if it is longer than `limit` or can't be read.
  private static func read(atMost limit: Int) -> [UInt8]? {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? all : nil }
      guard all.count + count <= limit else { return nil }
      all += chunk[..<count]
    }
  }

  /// Writes all bytes. Returns false if the reader has closed or the write failed.
  @discardableResult
  static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Bool {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
    }
    return true
  }

  private static func tell(_ text: String, on descriptor: Int32) { write(Array(text.utf8), to: descriptor) }
}
