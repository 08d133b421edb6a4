import Foundation
import Glibc
import JSONRPC
import Testing

/// Backups through the socket, and restores with `sdkctl restore`.
@Suite struct BackupTests {
  private func copies(_ desk: Desk) -> [String] {
    let folder = desk.state.appendingPathComponent("backups").path
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// Returns the audit records of restores that the daemon wrote in one of its runs, counted from 1.
  private func restores(_ desk: Desk, start: Int) throws -> [JSON] {
    try desk.audit(["--file", desk.folder.appendingPathComponent("log\(start)").path]).records
      .filter { $0["record"] == "state" }
  }

  /// Waits for the audit record of a restore, and returns it.
  private func restore(_ desk: Desk, start: Int) throws -> JSON {
    var found: [JSON] = []
    try eventually("the restore is in the audit") {
      found = try restores(desk, start: start)
      return !found.isEmpty
    }
    return try #require(found.first)
  }

  private func run(_ desk: Desk, _ words: String...) throws -> (status: Int32?, output: String, errors: String) {
    let id = UUID().uuidString
    let out = desk.folder.appendingPathComponent("out-\(id)")
    let program = try Program(
      words[0], Array(words.dropFirst()), environment: ["SDKD_SOCKET": desk.socket], output: out,
      log: desk.folder.appendingPathComponent("err-\(id)"))
    let status = program.exit(within: 60)
    return (status, (try? String(contentsOf: out, encoding: .utf8)) ?? "", program.logText)
  }

  @Test func aCopyIsRestoredAndNothingIsLost() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try desk.logIn(on: line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "hello"])
    let cursor = try #require(try line.call("events.list")["cursor"])
    let copy = try line.call("daemon.backup", ["name": "monday"])
    #expect(copy["name"] == "monday" && (copy["bytes"]?.intValue ?? 0) > 4096)
    #expect(try line.failure("daemon.backup", ["name": "monday"]).data["member"] == "name")
    #expect(try line.failure("daemon.backup", ["name": "../x"]).reason == "invalidParams")
    let epoch = try line.call("storage.list", ["instance": "desk"])["storageEpoch"]
    try line.call("storage.put", ["instance": "desk", "key": "later", "value": 1])

    // A restore is refused while the daemon runs (exit status 75).
    let early = try run(desk, "sdkctl", "restore", "--state", desk.state.path)
    #expect(early.status == 75 && early.errors.contains("stop"))
    #expect(desk.stop() == 0)
    let wrong = try run(desk, "sdkctl", "restore", "tuesday", "--state", desk.state.path)
    #expect(wrong.status == 1 && wrong.errors.contains("monday"))
    let done = try run(desk, "sdkctl", "restore", "--state", desk.state.path, "-o", "jsonl")
    let result = try JSONParser.parse(done.output)
    #expect(done.status == 0 && result["restored"] == "monday" && result["copiedAt"] == copy["createdAt"])
    #expect(result["warning"] == nil)
    #expect(FileManager.default.fileExists(atPath: result["setAside"]?.stringValue ?? ""))
    try desk.start()
    let record = try restore(desk, start: 2)
    #expect(record["cause"] == "restore" && record["backup"] == copy["createdAt"] && record["outcome"] == "ok")
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    let keys = try next.call("storage.list", ["instance": "desk"])
    #expect(keys["keys"]?.arrayValue?.map { $0["key"] } == ["draft"] && keys["storageEpoch"] != epoch)
    // A subscription from a cursor that was issued before the restore gets `events.gap`.
    try next.call("events.subscribe", ["since": cursor])
    #expect(try next.notification("events.gap")["resume"] != nil)
    let health = try next.call("daemon.health")
    #expect(health["status"] == "ok")
    #expect(health["checks"]?.arrayValue?.contains { $0["name"] == "setAside" } == true)
    // A start on the same state is no restore.
    try desk.crash()
    #expect(try [1, 2, 3].map { try restores(desk, start: $0).count } == [0, 1, 0])
  }

  @Test("A restore and the journal name the instances whose users and values were destroyed after the backup")
  func whatStaysDestroyed() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for id in ["desk", "other", "former"] { try desk.create(id, on: line) }
    try desk.logIn(on: line)
    try line.call("daemon.backup", ["name": "monday"])
    try line.call("messaging.logoutUser", ["instance": "desk"])
    try line.call("instance.delete", ["instance": "former"])
    #expect(desk.stop() == 0)
    let done = try run(desk, "sdkctl", "restore", "monday", "--state", desk.state.path, "-o", "jsonl")
    let result = try JSONParser.parse(done.output)
    #expect(result["wiped"] == ["desk"] && result["deleted"] == ["former"], "\(done.output)")
    #expect(result["wipedMore"] == nil)
    try desk.start()
    #expect(desk.logs.contains("were destroyed after the backup and did not come back: desk."), "\(desk.logs)")
    #expect(desk.logs.contains("were deleted after the backup and did not come back: former."), "\(desk.logs)")
    let found = try desk.connect().call("instance.list")["instances"]?.arrayValue ?? []
    #expect(found.map { $0["instance"] } == ["desk", "other"])
    #expect(found.map { $0["state"] } == ["noUser", "noUser"])
  }

  @Test func aTokenThatCanBeUsedOnceIsNeverUsedAfterARestore() throws {
    let service = try ServiceDesk(client: ServiceDesk.rotating)
    try service.signIn()
    #expect(try service.state() == "authenticated")
    try service.line.call("daemon.backup", ["name": "copy"])
    // The vendor has rotated the refresh token that is in the backup.
    _ = try service.refresh()
    let refreshes = try service.refreshes()
    service.desk.stop()
    #expect(try run(service.desk, "sdkctl", "restore", "copy", "--state", service.desk.state.path).status == 0)
    try service.desk.start()
    let line = try service.desk.connect()
    let shown = try line.call("instance.get", ["instance": "desk"])["services"]?["chat"]
    #expect(shown?["state"] == "reauthNeeded")
    #expect(try line.failure("token.get", service.params()).reason == "reauthNeeded")
    #expect(try line.failure("token.refresh", service.params()).data["reason"] != nil)
    #expect(try service.refreshes() == refreshes)
    let settings = try line.call("serviceChat.getAuthenticationSettings", service.params())
    #expect(settings["settings"]?["hasRefreshToken"] == false)
    let told = try line.call("events.list", ["types": ["authenticationFailed"]])["events"]?.arrayValue?.last
    #expect(told?["data"]?["reason"] == "rotationInterrupted")
    // The vendor did not treat the grant as stolen: a new login works.
    let grant = try service.grant()
    try line.call(
      "serviceChat.setAuthenticationSettings", service.params("chat", ["settings": ServiceDesk.settings(grant)]))
    #expect(try line.call("token.get", service.params())["token"] == grant["access_token"])
  }

  @Test func aCopyIsMadeByItself() throws {
    let desk = try Desk()
    try desk.write("sdkd.toml", "[backup]\nevery = \"1h\"\nkeep = 2\n")
    try desk.start()
    try desk.create("desk", on: try desk.connect())
    desk.stop()
    // The backups are older than `every`, so another one is due.
    let folder = desk.state.appendingPathComponent("backups")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for number in 1...3 {
      let file = folder.appendingPathComponent("auto-\(number).db").path
      try FileManager.default.copyItem(atPath: desk.state.appendingPathComponent("state.db").path, toPath: file)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -7200 - Double(number))], ofItemAtPath: file)
    }
    try desk.start()
    try eventually("a copy is made and the oldest are removed") {
      let names = copies(desk)
      return names.count == 2 && names.contains { $0.hasPrefix("auto-2") && $0.count > 12 }
    }
    let check = try desk.connect().call("daemon.health")["checks"]?.arrayValue?.first { $0["name"] == "backup" }
    #expect(check?["status"] == "ok" && check?["detail"]?.stringValue?.hasPrefix("auto-2") == true)
  }

  @Test func aDamagedDatabaseIsReplacedByTheNewestCopy() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let copy = try line.call("daemon.backup")
    try desk.create("later", on: line)
    desk.stop()
    let database = desk.state.appendingPathComponent("state.db")
    let damaged = Data(repeating: 0x5A, count: 9000)
    try damaged.write(to: database)
    try desk.start()
    let next = try desk.connect()
    #expect(try next.call("instance.list")["instances"]?.arrayValue?.map { $0["instance"] } == ["desk"])
    let health = try next.call("daemon.health")
    let check = health["checks"]?.arrayValue?.first { $0["name"] == "setAside" }
    #expect(health["status"] == "degraded" && check?["status"] == "degraded")
    let name = try #require(check?["detail"]?.stringValue?.split(separator: ":").first)
    let aside = desk.state.appendingPathComponent(String(name))
    #expect(try Data(contentsOf: aside) == damaged)
    #expect(desk.logs.contains("set aside as \(name)"))
    #expect(desk.logs.contains("notes of destroyed keys could not be taken over"))
    let record = try restore(desk, start: 2)
    #expect(record["cause"] == "damage" && record["backup"] == copy["createdAt"])
    // Once the file that was set aside is deleted, the health is `ok` again.
    try FileManager.default.removeItem(at: aside)
    #expect(try next.call("daemon.health")["status"] == "ok")

    // Without a backup the damaged database stays as it is, and calls that need the store fail with the reason.
    desk.stop()
    try FileManager.default.removeItem(at: desk.state.appendingPathComponent("backups"))
    try damaged.write(to: database)
    try desk.start()
    let last = try desk.connect()
    let refusal = try last.failure("instance.list")
    #expect(refusal.reason == "storeUnavailable" && refusal.message.contains("sdkctl restore"))
    #expect(try last.failure("daemon.backup").reason == "storeUnavailable")
    #expect(try Data(contentsOf: database) == damaged)
    desk.stop()
    #expect(try run(desk, "sdkctl", "restore", "--state", desk.state.path).status == 1)
    let emptied = try run(desk, "sdkctl", "restore", "--empty", "--state", desk.state.path, "-o", "jsonl")
    let replaced = try JSONParser.parse(emptied.output)
    #expect(emptied.status == 0 && replaced["warning"] != nil, "\(emptied)")
    try desk.start()
    #expect(try desk.connect().call("instance.list")["instances"] == [])
  }
}
