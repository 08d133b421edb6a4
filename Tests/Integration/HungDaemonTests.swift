import Glibc
import JSONRPC
import Testing

/// `sdkctl` while the daemon accepts connections and answers nothing.
@Suite struct HungDaemonTests {
  /// Runs a body while the daemon is stopped by a signal.
  private func whileStopped(_ body: (Desk) throws -> Void) throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    desk.daemon?.signal(SIGSTOP)
    defer { desk.daemon?.signal(SIGCONT) }
    try body(desk)
  }

  @Test(
    "A verb ends at --timeout with status 75 while the daemon hangs",
    arguments: [
      ["status"], ["list"], ["show", "desk"], ["token", "desk"], ["refresh", "desk"], ["open", "desk"],
      ["exec", "desk", "--", "true"], ["events"], ["events", "--follow"], ["top", "--once"],
      ["storage", "desk", "list"],
      ["push", "desk", "list"], ["call", "daemon.info"], ["reload"], ["backup"], ["identity", "desk"],
      ["logout", "desk"], ["delete", "desk"], ["update", "desk", "--label", "a=b"],
    ])
  func timeoutHolds(_ words: [String]) throws {
    try whileStopped { desk in
      let run = try desk.sdkctl(["--timeout", "200ms"] + words)
      #expect(run.status == (words.first == "exec" ? 125 : 75), "\(run.error)")
      #expect(run.output == "")
    }
  }

  @Test("The doctor reports a daemon that hangs")
  func doctor() throws {
    try whileStopped { desk in
      let run = try desk.sdkctl(["doctor", "-o", "jsonl"])
      #expect(run.status == 1)
      let found = try run.output.split(separator: "\n").map { try JSONParser.parse(String($0)) }
      let daemon = found.first { $0["check"] == "daemon" }
      #expect(daemon?["status"] == "failing", "\(run.output)")
      #expect(daemon?["message"]?.stringValue?.contains("has not answered in") == true, "\(run.output)")
      #expect(found.contains { $0["check"] == "disk" }, "what needs no daemon is still looked at")
    }
  }
}
