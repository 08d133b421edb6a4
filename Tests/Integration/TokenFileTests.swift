import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl token --file`, with the real daemon.
@Suite struct TokenFileTests {
  private func start(_ desk: Desk, _ options: String...) throws -> Program {
    try Program(
      "sdkctl", ["token", "desk", "--file", file(desk), "--follow"] + options,
      environment: ["SDKD_SOCKET": desk.socket], output: desk.folder.appendingPathComponent("follow.out"),
      log: desk.folder.appendingPathComponent("follow.err"))
  }

  private func file(_ desk: Desk) -> String { desk.folder.appendingPathComponent("token").path }

  private func text(_ desk: Desk) -> String? { try? String(contentsOfFile: file(desk), encoding: .utf8) }

  private func open() throws -> (Desk, Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    return (desk, line)
  }

  @Test("A file is written once, for its owner alone")
  func once() throws {
    let (desk, line) = try open()
    #expect(try desk.sdkctl("token", "desk", "--file", file(desk)).status == 6)
    #expect(text(desk) == nil)
    let jwt = try desk.logIn(on: line)
    try desk.write("token", "former", mode: 0o644)
    let run = try desk.sdkctl("token", "desk", "--file", file(desk), "--http")
    #expect(run.status == 0 && run.output.isEmpty, "\(run.error)")
    #expect(text(desk) == "Authorization: Bearer \(jwt)\n")
    let mode = try FileManager.default.attributesOfItem(atPath: file(desk))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    for wrong in [["--follow"], ["--hook", "true"], ["--file", file(desk), "--hook", "true"]] {
      #expect(try desk.sdkctl(["token", "desk"] + wrong).status == 2)
    }
  }

  @Test("A file is kept through sign-in, another user, restarts of the daemon, logout and the end")
  func follow() throws {
    let (desk, line) = try open()
    let runs = desk.folder.appendingPathComponent("runs").path
    // The file of an earlier process is removed, because no user is signed in.
    try desk.write("token", "former")
    let follower = try start(desk, "--hook", "cat \"$SDKD_TOKEN_FILE\" >>\(runs) 2>/dev/null || echo none >>\(runs)")
    try eventually("the leftover is removed") { text(desk) == nil }
    let alice = try desk.logIn(as: "alice", on: line)
    try eventually("Alice's token is there") { text(desk) == alice + "\n" }
    let bob = try desk.logIn(as: "bob", on: line)
    try eventually("Bob's token is there") { text(desk) == bob + "\n" }
    try desk.crash()
    var again = try desk.connect()
    #expect(text(desk) == bob + "\n")
    let carol = try desk.logIn(as: "carol", on: again)
    try eventually("Carol's token is there", within: 30) { text(desk) == carol + "\n" }
    #expect(desk.stop() == 0)
    #expect(text(desk) == carol + "\n")
    try desk.start()
    again = try desk.connect()
    try again.call("messaging.logoutUser", ["instance": "desk"])
    try eventually("the file is removed", within: 30) { text(desk) == nil }
    let last = try desk.logIn(as: "alice", on: again)
    try eventually("the last token is there") { text(desk) == last + "\n" }
    // Changes during a run of the hook lead to one more run, so the file's last token may be seen by none.
    try eventually("the hook has seen it") { try String(contentsOfFile: runs, encoding: .utf8).contains(last) }
    follower.signal(SIGTERM)
    #expect(follower.exit(within: 30) == 0, "\(follower.logText)")
    #expect(text(desk) == nil)
    let seen = try String(contentsOfFile: runs, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(seen.first == "none" && seen.last == "none" && seen.contains(carol) && seen.contains(last))
    #expect(!follower.logText.contains(last))
  }

  @Test("While the daemon is away a token stays in the file until it ends")
  func expiry() throws {
    let (desk, line) = try open()
    let follower = try start(desk)
    let jwt = try desk.logIn(ttl: 6, on: line)
    try eventually("the token is there") { text(desk) == jwt + "\n" }
    #expect(desk.stop() == 0)
    #expect(text(desk) == jwt + "\n")
    try eventually("the token has ended", within: 30) { text(desk) == nil }
    follower.signal(SIGINT)
    #expect(follower.exit(within: 30) == 0, "\(follower.logText)")
  }

  @Test("It waits for the daemon at boot, and ends when the instance is deleted or the time is over")
  func ends() throws {
    let (desk, line) = try open()
    let jwt = try desk.logIn(on: line)
    #expect(desk.stop() == 0)
    let follower = try start(desk)
    try eventually("it says why there is no token") { follower.logText.contains("(noDaemon)") }
    try desk.start()
    try eventually("the token is there", within: 30) { text(desk) == jwt + "\n" }
    let again = try desk.connect()
    try again.call("instance.delete", ["instance": "desk"])
    #expect(follower.exit(within: 30) == 5, "\(follower.logText)")
    #expect(text(desk) == nil)
    try desk.create("desk", on: again)
    let limited = try start(desk, "--timeout", "500ms")
    #expect(limited.exit(within: 30) == 75, "\(limited.logText)")
  }
}

/// The shipped unit that keeps a token file, as systemd reads it.
@Suite struct TokenUnitFileTests {
  private static let unit = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("systemd/system/sdkd-token@.service")

  @Test("systemd has nothing to say about the unit, and it is confined", arguments: ["verify", "security"])
  func unit(_ verb: String) throws {
    let desk = try Desk()
    let text = try String(contentsOf: Self.unit, encoding: .utf8)
      .replacingOccurrences(of: "/usr/bin/sdkctl", with: Program.path("sdkctl"))
    try desk.write("units/sdkd-token@.service", text)
    try desk.write("units/sdkd.socket", "[Socket]\nListenStream=/run/x\n")
    try desk.write("units/sdkd.service", "[Service]\nExecStart=/bin/true\n")
    let folder = desk.folder.appendingPathComponent("units").path
    let log = desk.folder.appendingPathComponent("analyze.log")
    let options = verb == "verify" ? ["--man=no"] : ["--offline=yes", "--no-pager", "--threshold=25"]
    try desk.write("units/sdkd-token@desk.service", text)
    let program = try Program(
      "/usr/bin/systemd-analyze", [verb] + options + ["\(folder)/sdkd-token@desk.service"],
      environment: ["SYSTEMD_UNIT_PATH": "\(folder):"], output: log, log: log)
    #expect(program.exit(within: 60) == 0, "\(program.logText)")
    if verb == "verify" { #expect(program.logText.isEmpty) }
  }
}
