import Foundation
import Glibc
import JSONRPC
import Testing

/// A directory of the state that can't be written at the start.
@Suite(.enabled(if: getuid() == 0, "needs root to start a daemon of another user"))
struct StateAccessTests {
  private func desk() throws -> Desk {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    desk.stop()
    guard chown(desk.folder.path, 65534, 65534) == 0 else { throw Program.Failure(description: "chown") }
    try desk.giveState(to: 65534)
    return desk
  }

  private func start(_ desk: Desk) throws {
    try desk.start(environment: ["STATE_DIRECTORY": desk.state.path], uid: 65534)
  }

  @Test("A state whose directory can be written again is opened without a restart by anybody")
  func aDirectoryThatCanBeWrittenAgainHeals() throws {
    let desk = try desk()
    chmod(desk.database.path, 0o400)
    chmod(desk.state.path, 0o500)
    try start(desk)
    let refusal = try desk.connect().failure("instance.list")
    #expect(refusal.reason == "storeUnavailable" && refusal.data["retryable"] == true, "\(refusal.message)")
    let pid = desk.daemon?.pid
    chmod(desk.state.path, 0o700)
    chmod(desk.database.path, 0o600)
    try eventually("the state is open", within: 60) {
      guard let line = try? desk.connect() else { return false }
      return (try? line.call("instance.list")["instances"]?.arrayValue?.count) == 1
    }
    #expect(desk.daemon?.pid == pid && desk.daemon?.exit(within: 0) == nil)
    #expect(desk.stop() == 0)
  }

  /// A script that passes a socket, as systemd does, to a daemon with a user of its own.
  private static let activation = """
    import os, socket, sys
    path, state, config, binary = sys.argv[1:5]
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(64)
    os.chmod(path, 0o666)
    os.dup2(s.fileno(), 3)
    os.set_inheritable(3, True)
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    os.environ.update(
        LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), LISTEN_FDNAMES="sdkd.socket", STATE_DIRECTORY=state)
    os.execv(binary, [binary, "--state", state, "--config", config])
    """

  @Test("A daemon that starts anew keeps the socket that systemd passed, and ends when it is told to")
  func thePassedSocketIsKept() throws {
    let desk = try desk()
    chmod(desk.state.path, 0o500)
    let script = try desk.write("activate.py", Self.activation)
    let daemon = try Program(
      "/usr/bin/python3",
      [script.path, desk.socket, desk.state.path, desk.configuration.path, Program.path("sdkd")],
      output: desk.folder.appendingPathComponent("out"), log: desk.folder.appendingPathComponent("activated.log"))
    try eventually("the daemon answers", within: 60) { (try? desk.connect()) != nil }
    #expect(try desk.connect().failure("instance.list").reason == "storeUnavailable")
    let before = try FileManager.default.attributesOfItem(atPath: desk.socket)[.systemFileNumber] as? Int
    chmod(desk.state.path, 0o700)
    var (refusals, isOpen) = (0, false)
    try eventually("the state is open", within: 60) {
      guard let line = try? desk.connect() else {
        refusals += 1
        return false
      }
      isOpen = (try? line.call("instance.list")["instances"]?.arrayValue?.count) == 1
      return isOpen
    }
    #expect(isOpen && refusals == 0, "\(daemon.logText)")
    let after = try FileManager.default.attributesOfItem(atPath: desk.socket)[.systemFileNumber] as? Int
    #expect(before != nil && before == after)
    daemon.signal(SIGTERM)
    #expect(daemon.exit(within: 30) == 0)
  }

  @Test("A refusal that only an operator ends is not called retryable")
  func aRefusalThatStaysIsNotRetryable() throws {
    let desk = try desk()
    try Data(repeating: 0x5A, count: 9000).write(to: desk.database)
    try start(desk)
    let damaged = try desk.connect().failure("instance.list")
    #expect(damaged.reason == "storeUnavailable" && damaged.data["retryable"] == false)
    desk.stop()
    try desk.write("sdkd.toml", "[limits]\nunknown = 1\n")
    try start(desk)
    let mistaken = try desk.connect().failure("instance.list")
    #expect(mistaken.reason == "storeUnavailable" && mistaken.data["retryable"] == false)
  }

  @Test("A daemon that may lock no memory warns of swap space only where there is some")
  func noLockedMemory() throws {
    let desk = try desk()
    try desk.start(environment: ["STATE_DIRECTORY": desk.state.path], uid: 65534, before: "ulimit -l 0")
    let swaps = try String(contentsOfFile: "/proc/swaps", encoding: .utf8).split(separator: "\n").dropFirst()
    #expect(desk.logs.contains("RLIMIT_MEMLOCK is too low") == !swaps.isEmpty, "\(desk.logs)")
  }
}
