import Foundation
import Glibc
import JSONRPC
import Testing

/// The user of the daemon's child processes. A child that ran as the daemon's own user, as in the package, could read
/// every tenant's state; as root it could read everything.
@Suite(.enabled(if: getuid() == 0, "needs root to start a daemon of another user"))
struct ServiceAccountTests {
  /// Creates a daemon like the package's: a service with a user of its own.
  private func service(_ configuration: String) throws -> Desk {
    let desk = try Desk()
    guard chown(desk.folder.path, 65534, 65534) == 0 else { throw Program.Failure(description: "chown") }
    try desk.write("sdkd.toml", configuration)
    try start(desk)
    return desk
  }

  private func start(_ desk: Desk) throws {
    try desk.start(environment: ["STATE_DIRECTORY": desk.state.path], uid: 65534)
  }

  private let login = "messaging.loginUser"

  @Test func aCommandTakesSameUidInAService() throws {
    let desk = try service("")
    let line = try desk.connect()
    let provider: JSON = ["command": ["/bin/true"]]
    let params: JSON = [
      "instance": "desk", "kind": "zendesk.messaging", "provider": provider,
      "settings": ["base_url": .string(try desk.vendor.messaging), "app_id": .string(Desk.app)],
    ]
    let refused = try line.failure("instance.create", params)
    #expect(refused.reason == "providerNotAllowed")
    #expect(refused.message.contains("same_uid"))
    #expect(!desk.logs.contains("same_uid is on"))
    try desk.create("desk", on: line)
    let update = try line.failure("instance.update", ["instance": "desk", "provider": provider])
    #expect(update.reason == "providerNotAllowed")
    try line.call("instance.update", ["instance": "desk", "provider": ["unit": "front-desk"]])
  }

  @Test func withSameUidTheDaemonSaysWhatThatMeansAndWithoutItAgainNothingRuns() throws {
    let desk = try service("[bridge]\nsame_uid = true\n")
    #expect(desk.logs.components(separatedBy: "same_uid is on").count == 2, "once")
    var line = try desk.connect()
    let ran = desk.folder.appendingPathComponent("ran")
    let provider = try desk.provider("echo run >> '\(ran.path)'; exit 75")
    for folder in [desk.folder.path, desk.folder.appendingPathComponent("provider").path] {
      chown(folder, 65534, 65534)
    }
    try desk.create("desk", on: line, provider: provider)
    try line.call(login, ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 3600))])
    _ = try line.failure("token.refresh", ["instance": "desk"], within: 40)
    func runs() -> Int { ((try? String(contentsOf: ran, encoding: .utf8)) ?? "").split(separator: "\n").count }
    let before = runs()
    #expect(before > 0)
    desk.stop()
    try desk.write("sdkd.toml", "")
    try start(desk)
    line = try desk.connect()
    #expect(try line.failure("token.refresh", ["instance": "desk"], within: 40).reason == "providerNotAllowed")
    #expect(runs() == before)
  }

  @Test func aFileWithACommandIsAMistakeInAService() throws {
    let desk = try service("")
    desk.stop()
    try desk.write(
      "instances.d/desk.toml",
      """
      id = "desk"
      kind = "zendesk.messaging"
      [settings]
      base_url = "https://desk.zendesk.com/sc"
      app_id = "\(Desk.app)"
      [provider]
      command = ["/bin/true"]
      """)
    try start(desk)
    try eventually("the log has the mistake and its cure") {
      desk.logs.contains("provider.command") && desk.logs.contains("same_uid = true in [bridge]")
    }
  }

  @Test func inADaemonOfRootOnlyRootSetsACommand() throws {
    let desk = try Desk.open(configuration: "[access]\nadmins = [\"uid:1\"]\n")
    let provider: JSON = ["command": ["/bin/true"]]
    try desk.create("desk", on: try desk.connect(), provider: provider)
    let admin = Caller(uid: 1)
    #expect(try admin.reason(desk, "instance.update", ["instance": "desk", "labels": ["a": "b"]]) == nil)
    let other: JSON = ["instance": "desk", "provider": ["command": ["/bin/sh", "-c", "id"]]]
    #expect(try admin.reason(desk, "instance.update", other) == "providerNotAllowed")
    #expect(try admin.reason(desk, "instance.update", ["instance": "desk", "provider": nil]) == nil)
    #expect(
      try admin.reason(desk, "instance.update", ["instance": "desk", "provider": ["unit": "front-desk"]]) == nil)
  }
}
