import Foundation
import JSONRPC
import Testing

/// A state whose database is missing, empty, or not as the daemon left it.
@Suite struct StateLossTests {
  /// Returns a stopped desk with an instance that has a value, and with a backup.
  private func desk() throws -> Desk {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "hello"])
    try line.call("daemon.backup", ["name": "monday"])
    desk.stop()
    return desk
  }

  private func lose(_ desk: Desk, empties: Bool) throws {
    desk.removeDatabase()
    if empties { try Data().write(to: desk.database) }
  }

  @Test("A missing or emptied database is replaced by the newest backup, and that is said", arguments: [true, false])
  func theNewestBackupTakesThePlace(isEmptied: Bool) throws {
    let desk = try desk()
    try lose(desk, empties: isEmptied)
    try desk.start()
    let line = try desk.connect()
    #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "hello")
    let health = try line.call("daemon.health")
    #expect(health["status"] == "degraded")
    #expect(desk.logs.contains("state.db is missing or empty"))
    let aside = try #require(desk.stateFiles("state.db.corrupt-").first)
    try FileManager.default.removeItem(at: desk.state.appendingPathComponent(aside))
    #expect(try line.call("daemon.health")["status"] == "ok")
  }

  @Test("A missing or emptied database without a good backup is refused until an empty state is asked for")
  func withoutABackupItIsRefused() throws {
    for isEmptied in [true, false] {
      let desk = try desk()
      try FileManager.default.removeItem(at: desk.state.appendingPathComponent("backups"))
      let key = try Data(contentsOf: desk.state.appendingPathComponent("root.key"))
      try lose(desk, empties: isEmptied)
      try desk.start()
      let refusal = try desk.connect().failure("instance.list")
      #expect(refusal.reason == "storeUnavailable")
      #expect(refusal.message.contains("missing or empty"), "\(refusal.message)")
      #expect(refusal.data["retryable"] == false)
      desk.stop()
      #expect(desk.stateFiles("state.db") == (isEmptied ? ["state.db"] : []))
      #expect(try Data(contentsOf: desk.state.appendingPathComponent("root.key")) == key)
      #expect(try desk.sdkctl("restore", "--empty", "--state", desk.state.path).status == 0)
      for _ in 0..<2 {
        try desk.start()
        #expect(try desk.connect().call("instance.list")["instances"] == [])
        desk.stop()
      }
    }
  }

  @Test("An empty state can be begun with backups of the former one beside it, and without its key")
  func anEmptyStateIsBegunOnPurpose() throws {
    for keepsKey in [true, false] {
      let desk = try desk()
      if !keepsKey { try FileManager.default.removeItem(at: desk.state.appendingPathComponent("root.key")) }
      #expect(try desk.sdkctl("restore", "--empty", "--state", desk.state.path).status == 0)
      for _ in 0..<2 {
        try desk.start()
        #expect(try desk.connect().call("instance.list")["instances"] == [])
        desk.stop()
      }
    }
  }

  @Test("No new key is made where backups are but neither a database nor a key")
  func noNewKeyIsMadeBesideBackups() throws {
    let desk = try desk()
    try lose(desk, empties: false)
    try FileManager.default.removeItem(at: desk.state.appendingPathComponent("root.key"))
    try desk.start()
    #expect(try desk.connect().failure("instance.list").reason == "keyMissing")
    #expect(desk.stateFiles("root.key") == [])
  }

  @Test("A planted trigger or view is damage: the newest backup takes its place")
  func aPlantedTriggerIsDamage() throws {
    let plants = [
      "CREATE TRIGGER planted AFTER UPDATE ON meta BEGIN DELETE FROM instance; END;",
      "ALTER TABLE storage RENAME TO kept; CREATE VIEW storage AS SELECT * FROM kept WHERE 0;",
    ]
    for plant in plants {
      let desk = try desk()
      try desk.changeDatabase(plant)
      try desk.start()
      let line = try desk.connect()
      #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "hello")
      #expect(try line.call("daemon.health")["status"] == "degraded")
      #expect(desk.logs.contains("schema"))
      #expect(desk.stateFiles("state.db.corrupt-").count == 1)
    }
  }

  @Test("A removed row of an instance is noticed, and health says so until somebody has looked")
  func aRemovedInstanceIsNoticed() throws {
    let desk = try desk()
    try desk.start()
    try desk.create("other", on: try desk.connect())
    desk.stop()
    try desk.changeDatabase("DELETE FROM instance WHERE id = 'desk';")
    for _ in 0..<2 {
      try desk.start()
      let line = try desk.connect()
      #expect(try line.call("instance.list")["instances"]?.arrayValue?.compactMap { $0["instance"] } == ["other"])
      let check = try desk.check("state", on: line)
      #expect(check?["status"] == "degraded")
      #expect(check?["detail"]?.stringValue?.contains("1 of 2 instances") == true, "\(check ?? [:])")
      desk.stop()
    }
    #expect(desk.logs.contains("1 of 2 instances"))
    let notice = try #require(desk.stateFiles("state.db.notice-").first)
    #expect(desk.stateFiles("state.db.notice-").count == 1)
    try FileManager.default.removeItem(at: desk.state.appendingPathComponent(notice))
    try desk.start()
    let line = try desk.connect()
    #expect(try line.call("daemon.health")["status"] == "ok")
    // Instances that the daemon itself deletes and creates are not reported.
    try line.call("instance.delete", ["instance": "other"])
    try desk.create("new", on: line)
    try desk.crash()
    #expect(try desk.connect().call("daemon.health")["status"] == "ok")
  }

  @Test("A database put back by file copy is noticed when somebody has signed out since")
  func aDatabasePutBackIsNoticed() throws {
    for isCopiedWhileRunning in [false, true] {
      let desk = try Desk.open()
      var line = try desk.connect()
      try desk.create("desk", on: line)
      try desk.logIn(on: line)
      if !isCopiedWhileRunning { desk.stop() }
      let kept = desk.folder.appendingPathComponent("kept")
      try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: true)
      for name in desk.stateFiles("state.db") {
        try FileManager.default.copyItem(
          at: desk.state.appendingPathComponent(name), to: kept.appendingPathComponent(name))
      }
      if !isCopiedWhileRunning {
        try desk.start()
        line = try desk.connect()
      }
      let epoch = try line.call("storage.list", ["instance": "desk"])["storageEpoch"]
      try line.call("messaging.logoutUser", ["instance": "desk"])
      // The logout is on disk, so a crash does not lose it.
      if isCopiedWhileRunning { try desk.crash() }
      desk.stop()
      desk.removeDatabase()
      for name in try FileManager.default.contentsOfDirectory(atPath: kept.path) {
        try FileManager.default.copyItem(
          at: kept.appendingPathComponent(name), to: desk.state.appendingPathComponent(name))
      }
      try desk.start()
      let next = try desk.connect()
      let check = try desk.check("state", on: next)
      #expect(check?["status"] == "degraded")
      #expect(check?["detail"]?.stringValue?.contains("older") == true, "\(check ?? [:])")
      #expect(desk.logs.contains("older"))
      // The database is treated as a restored backup.
      #expect(try next.call("storage.list", ["instance": "desk"])["storageEpoch"] != epoch)
    }
  }

  @Test("Restarts, crashes and restores are not taken for a database that was put back")
  func restartsAreNotNoticed() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("daemon.backup", ["name": "monday"])
    for index in 0..<4 {
      let line = try desk.connect()
      try desk.logIn(on: line)
      try line.call("messaging.logoutUser", ["instance": "desk"])
      if index.isMultiple(of: 2) {
        try desk.crash()
      } else {
        desk.stop()
        try desk.start()
      }
      #expect(try desk.connect().call("daemon.health")["status"] == "ok")
    }
    desk.stop()
    #expect(try desk.sdkctl("restore", "--state", desk.state.path).status == 0)
    for _ in 0..<2 {
      try desk.start()
      #expect(try desk.connect().call("daemon.health")["status"] == "ok")
      try desk.crash()
      desk.stop()
    }
  }
}
