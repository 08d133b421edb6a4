import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl` against the real daemon: what scripts see.
@Suite struct CommandTests {
  private func run(
    _ desk: Desk, _ arguments: [String], input: String? = nil
  ) throws -> (status: Int32, output: String, error: String) {
    let id = UUID().uuidString
    let output = desk.folder.appendingPathComponent("out-\(id)")
    let log = desk.folder.appendingPathComponent("err-\(id)")
    var descriptor: Int32?
    if let input { descriptor = open(try desk.write("in-\(id)", input).path, O_RDONLY | O_CLOEXEC) }
    let program = try Program(
      "sdkctl", arguments, environment: ["SDKD_SOCKET": desk.socket], output: output, log: log, input: descriptor)
    if let descriptor { close(descriptor) }
    guard let status = program.exit(within: 60) else { throw Program.Failure(description: "sdkctl runs on") }
    return (status, (try? String(contentsOf: output, encoding: .utf8)) ?? "", program.logText)
  }

  @Test func theMainVerbs() throws {
    let desk = try Desk.open()
    let created = try run(
      desk,
      [
        "create", "desk", "--kind", "zendesk.messaging", "--setting", "base_url=\(try desk.vendor.messaging)",
        "--setting", "app_id=\(Desk.app)", "--label", "floor=1",
      ])
    #expect(created.status == 0, "\(created.error)")
    let jwt = try Vendor.mint("alice")
    #expect(try run(desk, ["login", "desk"], input: jwt + "\n").status == 0)
    #expect(try run(desk, ["token", "desk"]).output == jwt + "\n")
    let endpoint = #"{"access_token": "\#(jwt)", "token_type": "Bearer", "expires_in": 3600}"#
    #expect(try run(desk, ["login", "desk"], input: endpoint).status == 0)
    let list = try JSONParser.parse(try run(desk, ["list", "-o", "json"]).output)
    let first = list["instances"]?.arrayValue?.first ?? list.arrayValue?.first
    #expect(first?["instance"] == "desk")
    #expect(try run(desk, ["show", "desk"]).output.contains("authenticated"))
    let identity = try run(desk, ["identity", "desk"])
    #expect(identity.status == 0 && identity.output.contains("alice"), "\(identity.error)")
    #expect(try run(desk, ["status"]).output.contains("ok"))
    #expect(try run(desk, ["open", "desk", "-o", "json"]).output.contains("\"visible\""))
    #expect(try run(desk, ["events", "desk"]).output.contains("userLoggedIn"))
    #expect(try run(desk, ["storage", "desk", "put", "k"], input: "{\"a\": 1}").status == 0)
    #expect(try run(desk, ["storage", "desk", "get", "k"]).output.contains("\"a\""))
    #expect(try run(desk, ["call", "daemon.info"]).output.contains("\"sdkd\""))
    #expect(try run(desk, ["logout", "desk"]).status == 0)
    #expect(try run(desk, ["rm", "desk"]).output == "desk is deleted.\n")
  }

  @Test("create names all settings that are missing, and needs no others", arguments: KindSample.all)
  func missingSettings(of sample: KindSample) throws {
    let desk = try Desk.open()
    let create = ["create", "desk", "--kind", sample.kind]
    let refused = try run(desk, create)
    #expect(refused.status == 2)
    let settings = try sample.settings(desk.vendor)
    let named = settings.members.filter { refused.error.contains($0.key) }
    let options = named.flatMap { ["--setting", "\($0.key)=\($0.value.stringValue ?? JSONWriter.text(of: $0.value))"] }
    let made = try run(desk, create + options)
    #expect(made.status == 0, "\(refused.error)\(made.error)")
  }

  @Test func theExitStatusSaysWhatWentWrong() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    #expect(try run(desk, ["token", "desk"]).status == 6)
    #expect(try run(desk, ["token", "nope"]).status == 5)
    #expect(try run(desk, ["tokn", "desk"]).status == 2)
    #expect(try run(desk, ["call", "token.gett"]).status == 2)
    #expect(try run(desk, ["refresh", "desk"]).status == 6)
    let bad = try run(desk, ["login", "desk"], input: "garbage\n")
    #expect(bad.status == 1)
    #expect(bad.error.contains("failedToDecodeJWT"))
    desk.stop()
    #expect(try run(desk, ["status"]).status == 3)
  }

  @Test func lintingNeedsNoDaemon() throws {
    let desk = try Desk()
    let forged = try Vendor.mint("alice", ttl: -5)
    let lint = try run(desk, ["lint-jwt"], input: forged)
    #expect(lint.output.contains("expired") || lint.error.contains("expired"))
    #expect(!lint.output.contains(forged.split(separator: ".")[2]))
  }

  @Test func eventsAreFollowedAcrossARestart() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("one", on: line)
    let output = desk.folder.appendingPathComponent("followed")
    let follower = try Program(
      "sdkctl", ["events", "--follow", "-o", "jsonl"], environment: ["SDKD_SOCKET": desk.socket], output: output,
      log: desk.folder.appendingPathComponent("follow.err"))
    func seen() -> String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    var number = 0
    try eventually("the follower is there") {
      number += 1
      try desk.create("early\(number)", on: line)
      return seen().contains("early")
    }
    try desk.crash()
    try desk.create("after", on: try desk.connect())
    try eventually("the event after the restart is seen", within: 30) { seen().contains("\"after\"") }
    #expect(seen().components(separatedBy: "\"after\"").count == 2)
    follower.signal(SIGINT)
    #expect(follower.exit(within: 10) == 0)
  }

  @Test("A cursor file misses no event and repeats none, while sdkctl and the daemon are killed")
  func aCursorFile() throws {
    let desk = try Desk.open()
    let (output, file) = (desk.folder.appendingPathComponent("seen"), desk.folder.appendingPathComponent("cursor"))
    func seen() -> [Substring] {
      ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n")
    }
    func follow() throws -> Program {
      try Program(
        "sdkctl", ["events", "-f", "-o", "name", "--type", "instanceCreated", "--cursor-file", file.path],
        environment: ["SDKD_SOCKET": desk.socket], output: output, log: desk.folder.appendingPathComponent("f.err"))
    }
    var follower = try follow()
    try eventually("the first cursor is stored") { FileManager.default.fileExists(atPath: file.path) }
    try desk.create("one", on: try desk.connect())
    try eventually("the cursor of its event is stored") {
      try seen() == ["one"]
        && desk.sdkctl(["events", "--cursor-file", try copy(file).path, "-o", "name"]).output.isEmpty
    }
    follower.signal(SIGKILL)
    _ = follower.exit(within: 10)
    try desk.create("two", on: try desk.connect())
    try desk.crash()
    follower = try follow()
    try desk.create("three", on: try desk.connect())
    try eventually("all events are there", within: 30) { seen().count >= 3 }
    #expect(seen() == ["one", "two", "three"])
    #expect(
      try desk.sdkctl(["events", "--since", "1h", "--type", "instanceCreated", "-o", "name"]).output
        == "one\ntwo\nthree\n")
    #expect(try desk.sdkctl(["events", "--since", "2100-01-01T00:00:00Z"]).output.isEmpty)

    func copy(_ file: URL) throws -> URL {
      let copy = desk.folder.appendingPathComponent("cursor-copy")
      try Data(contentsOf: file).write(to: copy)
      return copy
    }
  }

  @Test("logs and audit with --follow print each entry at once, and end at --timeout", arguments: ["json", "yaml"])
  func logsAreFollowed(_ format: String) throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    #expect(desk.stop() == 0)
    let options = ["--follow", "--file", desk.firstLog, "-o", format, "--timeout", "3s"]
    for line in [["logs", "-n", "2"], ["audit", "--since", "1h"]] {
      let run = try run(desk, line + options)
      #expect(run.status == 75, "\(line): \(run.error)")
      let start = format == "yaml" ? "---" : "{"
      let entries = run.output.split(separator: "\n").count { $0.hasPrefix(start) }
      #expect(line.contains("logs") ? entries == 2 : entries > 0, "\(line): \(run.output)")
    }
  }

  @Test func execPutsTheTokenIntoTheEnvironment() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try desk.logIn(on: line)
    let script = "printf '%s %s %s' \"$SDKD_TOKEN\" \"$SDKD_INSTANCE\" \"$SDKD_TOKEN_EXPIRES_AT\"; exit 9"
    let run = try run(desk, ["exec", "desk", "--min-ttl", "10s", "--", "sh", "-c", script])
    #expect(run.status == 9, "\(run.error)")
    let end = try line.call("instance.get", ["instance": "desk"])["expiresAt"]?.stringValue ?? "?"
    #expect(run.output == "\(jwt) desk \(end)")
    #expect(try self.run(desk, ["exec", "desk", "--", "/no/such/program"]).status == 127)
    #expect(try self.run(desk, ["exec", "nope", "--", "true"]).status == 125)
  }

  @Test func pushRegistrations() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    let made = try run(desk, ["push", "desk", "register", "--type", "fcm"], input: "device-address-1234\n")
    #expect(made.status == 0, "\(made.error)")
    let id = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    let list = try run(desk, ["push", "desk", "list"]).output
    #expect(list.contains(id) && list.contains("…1234") && list.contains("alice"))
    #expect(!list.contains("device-address"))
    #expect(try run(desk, ["push", "desk", "unregister", id]).status == 0)
    #expect(try run(desk, ["push", "desk", "list", "-o", "json"]).output == "[]\n")
  }

  @Test func aServiceIsSignedOutByLogout() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", KindSample.salesforce, user: "alice", on: line)
    try desk.signIn("desk", KindSample.salesforce, as: "alice", on: line)
    let out = try run(desk, ["logout", "desk", "--service", "cases"])
    #expect(out.status == 0, "\(out.error)")
    let left = try line.call("serviceChat.getAuthenticationSettings", ["instance": "desk", "service": "cases"])
    #expect(left["settings"] == .null)
    #expect(try run(desk, ["logout", "desk"]).status == 2)
  }
}
