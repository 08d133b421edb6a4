import Foundation
import Glibc
import JSONRPC
import Testing

/// What systemd sees, with a notify socket and a passed socket made here.
@Suite struct SystemdTests {
  @Test func readinessStatusAndStoppingAreNotified() throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent("notify").path
    let notify = try Datagrams(path)
    try desk.start(environment: ["NOTIFY_SOCKET": path])
    try desk.create("desk", on: try desk.connect())
    try eventually("READY=1 has come") { notify.received.contains { $0.contains("READY=1") } }
    #expect(notify.received.contains { $0.contains("STATUS=") })
    #expect(desk.stop() == 0)
    try eventually("STOPPING=1 has come") { notify.received.contains { $0.contains("STOPPING=1") } }
  }

  @Test func anActivatedSocketIsServedAndLeftInPlace() throws {
    let desk = try Desk()
    // systemd's part, played by a small program: the socket is descriptor 3, and LISTEN_PID is the daemon's.
    let script = """
      import os, socket, sys
      path, state, config, binary = sys.argv[1:5]
      s = socket.socket(socket.AF_UNIX)
      s.bind(path)
      s.listen(64)
      os.dup2(s.fileno(), 3)
      os.set_inheritable(3, True)
      os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="sdkd.socket")
      os.execv(binary, [binary, "--state", state, "--config", config])
      """
    let file = try desk.write("activate.py", script)
    let starter = try desk.write(
      "activate",
      "#!/bin/sh\nexec python3 '\(file.path)' '\(desk.socket)' '\(desk.state.path)' '\(desk.configuration.path)' '\(Program.path("sdkd"))'\n",
      mode: 0o755)
    let log = desk.folder.appendingPathComponent("activated.log")
    let daemon = try Program(
      starter.path, [], output: desk.folder.appendingPathComponent("out"), log: log)
    try eventually("the socket is there") { FileManager.default.fileExists(atPath: desk.socket) }
    // The first connection may come before the daemon is ready: it waits in the backlog and gets its answer.
    var line: Line?
    try eventually("the socket answers") {
      line = try? desk.connect()
      return line != nil
    }
    #expect(try line?.call("daemon.info")["name"] == "sdkd")
    daemon.signal(SIGTERM)
    #expect(daemon.exit(within: 30) == 0)
    #expect(FileManager.default.fileExists(atPath: desk.socket))
  }

  @Test func theJournalGetsFields() throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent("journal").path
    let journal = try Datagrams(path)
    try desk.start(environment: ["SDKD_JOURNAL_SOCKET": path], waits: false)
    try eventually("the daemon answers", within: 60) { (try? desk.connect()) != nil }
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    try eventually("the login is in the journal") {
      journal.received.contains {
        $0.contains("SDKD_INSTANCE=desk\n") && $0.contains("SDKD_EVENT=userLoggedIn\n") && $0.contains("PRIORITY=6\n")
          && $0.contains("SYSLOG_IDENTIFIER=sdkd\n")
      }
    }
    desk.stop()
  }

  @Test func wrongUsageEndsWith64() throws {
    let desk = try Desk()
    let program = try Program(
      "sdkd", ["--stat", "x"], output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("err"))
    #expect(program.exit(within: 30) == 64)
  }
}
