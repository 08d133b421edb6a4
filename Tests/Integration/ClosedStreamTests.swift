import Foundation
import Glibc
import JSONRPC
import Testing

/// Programs that are started without some of the descriptors 0, 1 and 2, which then must not become sockets or event
/// loops.
@Suite struct ClosedStreamTests {
  /// Redirections of a shell that close streams.
  static let closings = ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"]

  /// Returns the targets of a process's descriptors 0, 1 and 2.
  private static func streams(of pid: pid_t) -> [String] {
    (0...2).map { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)")) ?? "none" }
  }

  @Test(
    "A long-running program has its streams open", .enabled(if: getuid() == 0, "needs root to look into sdkd"),
    arguments: closings)
  func programs(_ closing: String) throws {
    let desk = try Desk()
    let out = desk.folder.appendingPathComponent("out")
    let socket = desk.socket
    let commands: [(name: String, words: [String], isReady: () -> Bool)] = [
      (
        "sdkd", ["--config", desk.configuration.path, "--state", desk.state.path, "--socket", socket],
        { (try? desk.connect().call("instance.list")) != nil }
      ),
      ("sdkctl", ["--socket", socket, "events", "--follow"], { true }),
      ("sdk-sandbox", ["--port", "0"], { true }),
    ]
    var running: [Program] = []
    for command in commands {
      let words = ["-c", "exec \"$@\" \(closing)", "sh", Program.path(command.name)] + command.words
      let program = try Program(
        "/bin/sh", words, output: out, log: desk.folder.appendingPathComponent("\(command.name).log"))
      running.append(program)
      try eventually("\(command.name) is ready", within: 60) { command.isReady() }
      // Until then the process is the shell.
      try eventually("\(command.name) has event loops") {
        let folder = "/proc/\(program.pid)"
        let name = try String(contentsOfFile: "\(folder)/comm", encoding: .utf8)
        let targets = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")
          .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)") }
        return name == "\(command.name)\n" && targets.contains { $0.contains("[event") }
      }
      let streams = Self.streams(of: program.pid)
      let closed = streams.indices.filter { closing.contains("\($0)<&-") || closing.contains("\($0)>&-") }
      #expect(closed.allSatisfy { streams[$0] == "/dev/null" }, "\(command.name) \(closing): \(streams)")
    }
    let line = try desk.connect()
    try desk.create("desk", on: line)
    #expect(try line.call("instance.list")["instances"]?.arrayValue?.count == 1)
    for program in running { program.signal(SIGTERM) }
  }

  @Test("Output to a closed stream is a failure", arguments: closings)
  func output(_ closing: String) throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let isClosed = closing.contains("1>&-")
    for words in Self.printing {
      let run = try self.run(desk, words, closing)
      #expect((run.status != 0) == isClosed, "\(words) \(closing): \(run.error)")
      let says = run.error.contains("The output can't be written")
      #expect(says == (isClosed && !closing.contains("2>&-")), "\(words) \(closing): \(run.error)")
    }
  }

  @Test("Output to a full disk is a failure")
  func fullDisk() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    for words in Self.printing {
      let run = try self.run(desk, words, ">/dev/full")
      #expect(run.status == 1, "\(words): \(run.error)")
      #expect(run.error.contains("The output can't be written"), "\(words): \(run.error)")
      #expect(words[0] != "sdkctl" || run.error.contains("No space left on device"), "\(words): \(run.error)")
    }
  }

  /// Commands that print and end, of each program.
  static let printing = [
    ["sdkctl", "list"], ["sdkctl", "--version"], ["sdkctl", "--help"], ["sdkctl", "help", "list"],
    ["sdkctl", "list", "--help"], ["sdkctl", "completion", "bash"], ["sdkctl", "explain", "expiredJWT"],
    ["sdkd", "--version"], ["sdkd", "--help"], ["sdkd", "--default-config"], ["sdkd", "--openrpc"],
    ["sdk-sandbox", "--help"], ["sdk-sandbox", "mint", "--external-id", "alice"], ["sdkd-provider", "--help"],
  ]

  /// Runs a program with redirections of a shell.
  private func run(_ desk: Desk, _ words: [String], _ redirection: String) throws -> (status: Int32?, error: String) {
    let log = desk.folder.appendingPathComponent("err-\(UUID().uuidString)")
    let program = try Program(
      "/bin/sh", ["-c", "\"$@\" \(redirection)", "sh", Program.path(words[0])] + words.dropFirst(),
      environment: ["SDKD_SOCKET": desk.socket], output: desk.folder.appendingPathComponent("out"), log: log)
    return (program.exit(within: 60), program.logText)
  }

  @Test("A program of a provider unit gets streams, too")
  func providerUnit() throws {
    let desk = try Desk()
    let script = "#!/bin/sh\nreadlink /proc/$$/fd/2 >'\(desk.folder.path)/noted'\n"
    let program = try desk.write("program", script, mode: 0o755)
    let input = try desk.write("question", #"{"question":"getToken"}"#)
    let run = try Program(
      "/bin/sh",
      ["-c", "exec \"$@\" 2>&- <'\(input.path)'", "sh", Program.path("sdkd-provider"), program.path],
      output: desk.folder.appendingPathComponent("out"), log: desk.folder.appendingPathComponent("log"))
    #expect(run.exit(within: 30) == 0)
    let noted = try String(contentsOf: desk.folder.appendingPathComponent("noted"), encoding: .utf8)
    #expect(noted == "/dev/null\n")
  }
}
