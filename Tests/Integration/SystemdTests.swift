import Foundation
import Glibc
import JSONRPC
import Testing

/// The interface to systemd, with a notify socket and a passed socket that the test makes.
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

  @Test("The status begins with degraded while a reload is refused or a file is not applied")
  func degradedStatus() throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent("notify").path
    let notify = try Datagrams(path)
    func reaches(_ words: String, _ more: String = "") throws {
      try eventually("the status begins with \(words)") {
        let status = notify.received.last { $0.contains("STATUS=") } ?? ""
        return status.contains("STATUS=\(words)") && (more.isEmpty || status.contains(more))
      }
    }
    try desk.file("front")
    try desk.start(environment: ["NOTIFY_SOCKET": path])
    try reaches("1 instance, ")
    let line = try desk.connect()
    try desk.create("taken", on: line)
    try desk.write("sdkd.toml", "[limits]\nmax_in_fligth = 3\n")
    #expect(try line.failure("daemon.reload").reason == "invalidConfiguration")
    try reaches("degraded: 2 instances, ", "; the last good configuration stays in force: ")
    try desk.write("sdkd.toml", "")
    try line.call("daemon.reload")
    try reaches("reloaded; 2 instances, ")
    // At a start only, a file of a taken id is left out.
    try desk.file("taken")
    #expect(desk.stop() == 0)
    try desk.start(environment: ["NOTIFY_SOCKET": path])
    try reaches("degraded: 2 instances, ", "; taken: ")
    #expect(try desk.check("configuration", on: try desk.connect())?["status"] == "degraded")
  }

  /// Starts a daemon as systemd would, with descriptors from 3 on, and waits until the socket answers.
  ///
  /// - Parameter descriptors: Python that makes sockets and appends pairs of descriptor and name to `passed`.
  private func activate(_ desk: Desk, _ descriptors: String) throws -> (daemon: Program, line: Line) {
    // A small program plays systemd. It becomes the daemon, so that LISTEN_PID is right.
    let script = """
      import fcntl, os, socket, sys
      path, state, config, binary, folder = sys.argv[1:6]
      passed = []
      def listener(path, name):
          s = socket.socket(socket.AF_UNIX)
          s.bind(path)
          s.listen(4096)
          passed.append((s.detach(), name))
      \(descriptors)
      # Out of the way first: the numbers from 3 on may be some of them.
      high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd, _ in passed]
      for number, fd in enumerate(high):
          os.dup2(fd, 3 + number, inheritable=True)
      os.environ.update(LISTEN_FDS=str(len(passed)), LISTEN_PID=str(os.getpid()),
                        LISTEN_FDNAMES=":".join(name for _, name in passed))
      os.execv(binary, [binary, "--state", state, "--config", config])
      """
    let file = try desk.write("activate.py", script)
    let arguments = [
      file.path, desk.socket, desk.state.path, desk.configuration.path, Program.path("sdkd"), desk.folder.path,
    ]
    let daemon = try Program(
      "/usr/bin/python3", arguments, output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("activated.log"))
    try eventually("the socket is there") { FileManager.default.fileExists(atPath: desk.socket) }
    // The first connection may come before the daemon is ready: it waits in the backlog and is served later.
    var line: Line?
    try eventually("the socket answers") {
      line = try? desk.connect()
      return line != nil
    }
    return (daemon, try #require(line))
  }

  @Test func anActivatedSocketIsServedAndLeftInPlace() throws {
    let desk = try Desk()
    let (daemon, line) = try activate(desk, "listener(path, 'sdkd.socket')")
    #expect(try line.call("daemon.info")["name"] == "sdkd")
    let queue = try desk.listenQueue
    #expect((queue.length ?? 0) >= min(4096, queue.limit ?? .max))
    daemon.signal(SIGTERM)
    #expect(daemon.exit(within: 30) == 0)
    #expect(FileManager.default.fileExists(atPath: desk.socket))
  }

  @Test("Descriptors that are not the control socket are closed and logged, and the daemon starts")
  func foreignDescriptorsAreClosedAndLogged() throws {
    let desk = try Desk()
    let (daemon, line) = try activate(
      desk,
      """
      listener(folder + '/metrics', 'metrics.socket')
      passed.append((socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).detach(), 'sdkd.socket'))
      listener(path, 'sdkd.socket')
      passed.append((os.pipe()[0], 'stored'))
      """)
    #expect(try line.call("daemon.info")["name"] == "sdkd")
    for closed in ["Descriptor 3 (metrics.socket)", "Descriptor 4 (sdkd.socket)", "Descriptor 6 (stored)"] {
      try eventually("\(closed) is logged") { daemon.logText.contains("\(closed) from the service manager was closed") }
    }
    // No process has the socket open any more, so that clients are refused instead of waiting for ever.
    #expect(throws: (any Error).self) { try Line(desk.folder.appendingPathComponent("metrics").path, owner: desk) }
    daemon.signal(SIGTERM)
    #expect(daemon.exit(within: 30) == 0)
  }

  @Test("Many stored descriptors are one line of the log, and are removed from the store")
  func storedDescriptorsAreRemoved() throws {
    let desk = try Desk()
    let notify = try Datagrams(desk.folder.appendingPathComponent("notify").path)
    let (daemon, line) = try activate(
      desk,
      """
      os.environ['NOTIFY_SOCKET'] = folder + '/notify'
      listener(path, 'sdkd.socket')
      passed.extend((os.dup(1), 'kept') for _ in range(300))
      passed.append((os.dup(1), 'other'))
      """)
    #expect(try line.call("daemon.info")["name"] == "sdkd")
    for name in ["kept", "other"] {
      try eventually("\(name) is removed") { notify.received.contains("FDSTOREREMOVE=1\nFDNAME=\(name)") }
    }
    let lines = daemon.logText.split(separator: "\n").filter { $0.contains("from the service manager") }
    #expect(lines.count == 2 && lines.first?.contains("300 descriptors (kept) ") == true, "\(lines)")
    daemon.signal(SIGTERM)
    #expect(daemon.exit(within: 30) == 0)
  }

  @Test("A removed socket file shows in the health and in the log")
  func aRemovedSocketFileIsNoticed() throws {
    let desk = try Desk()
    try desk.start(environment: ["WATCHDOG_USEC": "2000000"])
    let line = try desk.connect()
    #expect(try line.call("daemon.health")["status"] == "ok")
    unlink(desk.socket)
    try eventually("the health says so") { try line.call("daemon.health")["status"] == "degraded" }
    let check = try line.call("daemon.health")["checks"]?.arrayValue?.first { $0["name"] == "socket" }
    #expect(check?["detail"]?.stringValue?.contains("\(desk.socket), was removed or replaced") == true)
    try eventually("the log says so") { desk.logs.contains("new clients can't connect") }
    #expect(desk.stop() == 0)
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
