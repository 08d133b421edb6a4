import Foundation
import Glibc
import JSONRPC
import Testing

/// Acknowledged writes survive `kill -9`, and wiped data is in no file.
@Suite struct DurabilityTests {
  @Test func everyAcknowledgedWriteSurvivesAKill() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let last = Int.random(in: 20...120)
    var acknowledged = 0
    for number in 1...last {
      let id = line.begin("storage.put", ["instance": "desk", "key": "n", "value": JSON(number)])
      if number == last {
        // Kills the daemon while the last write is somewhere between the socket and the disk.
        usleep(UInt32.random(in: 0...3_000))
        desk.daemon?.signal(SIGKILL)
      }
      guard let answer = try? line.answer(id), answer["result"] != nil else { break }
      acknowledged = number
    }
    #expect(acknowledged > 0)
    _ = desk.daemon?.exit(within: 10)
    try desk.start()
    let value = try desk.connect().call("storage.get", ["instance": "desk", "key": "n"])["value"]?.intValue ?? 0
    // The write after the last answer may have become durable before its answer was lost.
    #expect(value == acknowledged || value == acknowledged + 1)
  }

  @Test func noSecretLiesInTheClear() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let noisy =
      "echo \"token=$(cat)\" >&2; exec '\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""
    try desk.create("desk", on: line, provider: try desk.provider(noisy))
    let first = try Vendor.mint("alice-with-a-long-name", ttl: 3600)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
    let second = try line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue ?? ""
    #expect(second != first && !second.isEmpty)
    _ = try? line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first + "x")])
    try line.call("storage.put", ["instance": "desk", "key": "note", "value": "my-private-note-0815"])
    let anonymous = try desk.create("other", on: line)
    #expect(anonymous["instance"] == "other")
    let session = try line.call("session.open", ["instance": "other"])["token"]?["token"]?.stringValue ?? ""
    let events = JSONWriter.text(of: try line.call("events.list", ["limit": 500]))
    desk.stop()
    for secret in [first, second, session] {
      #expect(!events.contains(secret))
      #expect(!desk.logs.contains(secret))
      // The log must not contain the signature either: with guessed claims it completes the token.
      #expect(!desk.logs.contains(secret.split(separator: ".").last.map(String.init) ?? secret))
    }
    for secret in [first, second, session, "my-private-note-0815", "alice-with-a-long-name"] {
      #expect(try !contains(secret, desk.state), "\(secret.prefix(12))… is in the state")
    }
  }

  @Test func aLogoutLeavesNothingBehind() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "hello"])
    let before = try line.call("instance.get", ["instance": "desk"])["storageEpoch"]
    try line.call("messaging.logoutUser", ["instance": "desk"])
    let wiped = try line.call("events.list", ["types": ["identityWiped"]])["events"]?.arrayValue?.last
    #expect(wiped?["data"]?["storage"] == 1)
    #expect(wiped?["data"]?["tokens"] == 1)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("storage.list", ["instance": "desk"])["keys"] == [])
    #expect(try next.call("instance.get", ["instance": "desk"])["storageEpoch"] != before)
  }

  @Test func aSecondDaemonHarmsNothing() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    for arguments in [
      ["--state", desk.folder.appendingPathComponent("elsewhere").path, "--socket", desk.socket],
      ["--state", desk.state.path, "--socket", desk.folder.appendingPathComponent("s2").path],
    ] {
      let second = try Program(
        "sdkd", ["--config", desk.configuration.path] + arguments,
        output: desk.folder.appendingPathComponent("out2"), log: desk.folder.appendingPathComponent("err2"))
      #expect(second.exit(within: 30) == 75)
      #expect(!second.logText.isEmpty)
    }
    #expect(try line.call("instance.get", ["instance": "desk"])["instance"] == "desk")
    #expect(try desk.connect().call("daemon.info")["name"] == "sdkd")
  }

  @Test func aStaleSocketIsReplaced() throws {
    let desk = try Desk.open()
    desk.daemon?.signal(SIGKILL)
    _ = desk.daemon?.exit(within: 10)
    #expect(FileManager.default.fileExists(atPath: desk.socket))
    try desk.start()
    #expect(try desk.connect().call("daemon.info")["restartCount"] == 1)
  }

  @Test func filesAreClosedToOthers() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let manager = FileManager.default
    #expect(try mode(desk.state.path) == 0o700)
    for file in try manager.contentsOfDirectory(atPath: desk.state.path) {
      #expect(try mode(desk.state.appendingPathComponent(file).path) == 0o600, "\(file)")
    }
  }

  @Test func aMissingRootKeyIsSaidAndNothingIsOverwritten() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    desk.stop()
    let key = desk.state.appendingPathComponent("root.key")
    let kept = try Data(contentsOf: key)
    try FileManager.default.removeItem(at: key)
    try desk.start()
    let line = try desk.connect()
    #expect(try line.failure("instance.list").reason == "keyMissing")
    #expect(try line.call("daemon.health")["status"] == "failing")
    desk.stop()
    #expect(!FileManager.default.fileExists(atPath: key.path))
    try kept.write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
    try desk.start()
    #expect(try desk.connect().call("instance.get", ["instance": "desk"])["instance"] == "desk")
  }

  @Test(.enabled(if: getuid() == 0, "needs root to mount a small disk"))
  func aFullDiskFailsTheCallAndKeepsWhatWasAcknowledged() throws {
    let desk = try Desk()
    try FileManager.default.createDirectory(at: desk.state, withIntermediateDirectories: true)
    guard mount("none", desk.state.path, "tmpfs", 0, "size=700k,mode=0700") == 0 else {
      throw Program.Failure(description: "no tmpfs can be mounted")
    }
    defer { _ = umount2(desk.state.path, Int32(MNT_DETACH)) }
    try desk.start()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    let block = JSON.string(String(repeating: "x", count: 30_000))
    var stored = 0
    var refused: RPCError?
    while refused == nil, stored < 100 {
      do {
        try line.call("storage.put", ["instance": "desk", "key": .string("k\(stored)"), "value": block])
        stored += 1
      } catch let error as RPCError { refused = error }
    }
    #expect(refused?.reason == "storeUnavailable")
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try line.call("daemon.health")["status"]?.stringValue != "ok")
    #expect(try line.call("storage.list", ["instance": "desk"])["keys"]?.arrayValue?.count == stored)
    desk.daemon?.signal(SIGKILL)
    _ = desk.daemon?.exit(within: 10)
    // With space on the disk again, the daemon recovers and shows every acknowledged write.
    #expect(mount("none", desk.state.path, "tmpfs", UInt(MS_REMOUNT), "size=8m,mode=0700") == 0)
    try desk.start()
    let next = try desk.connect()
    #expect(try next.call("storage.list", ["instance": "desk"])["keys"]?.arrayValue?.count == stored)
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    try next.call("storage.put", ["instance": "desk", "key": "more", "value": 1])
    desk.stop()
  }

  /// Mounts a small disk as the state directory of a desk, runs `body`, and unmounts it.
  private func onSmallDisk(_ body: (Desk, (Bool) throws -> Void) throws -> Void) throws {
    let desk = try Desk()
    try FileManager.default.createDirectory(at: desk.state, withIntermediateDirectories: true)
    guard mount("none", desk.state.path, "tmpfs", 0, "size=4m,mode=0700") == 0 else {
      throw Program.Failure(description: "no tmpfs can be mounted")
    }
    defer { _ = umount2(desk.state.path, Int32(MNT_DETACH)) }
    try body(desk) { isFull in
      let ballast = desk.state.appendingPathComponent("ballast").path
      guard isFull else { return _ = unlink(ballast) }
      let file = creat(ballast, 0o600)
      let block = [UInt8](repeating: 1, count: 4096)
      while write(file, block, block.count) > 0 {}
      close(file)
    }
  }

  @Test(
    "A logout that a full disk could not store is made after a crash, and the user is not signed in again",
    .enabled(if: getuid() == 0, "mounting a tmpfs takes root"))
  func aFailedLogoutSurvivesACrash() throws {
    try onSmallDisk { desk, setFull in
      try desk.start()
      try desk.create("desk", on: try desk.connect())
      let jwt = JSON.string(try Vendor.mint("alice"))
      try desk.connect().call("messaging.loginUser", ["instance": "desk", "jwt": jwt])
      // After a clean stop, the write-ahead log has no space left that the logout could use.
      desk.stop()
      try desk.start()
      let line = try desk.connect()
      try setFull(true)
      let refusal = try line.failure("messaging.logoutUser", ["instance": "desk", "localOnly": true])
      #expect(refusal.reason == "storeUnavailable")
      #expect(try line.failure("token.get", ["instance": "desk"]).reason == "locked")
      for isFull in [true, false] {
        desk.daemon?.signal(SIGKILL)
        _ = desk.daemon?.exit(within: 10)
        if !isFull { try setFull(false) }
        try desk.start()
        let next = try desk.connect()
        guard !isFull else {
          #expect(try next.failure("token.get", ["instance": "desk"]).reason == "locked")
          continue
        }
        #expect((try? next.call("token.get", ["instance": "desk"]))?["token"] != jwt)
        try eventually("the logout is made") {
          try next.call("instance.get", ["instance": "desk"])["state"] != "locked"
        }
        #expect((try? next.call("token.get", ["instance": "desk"]))?["token"] != jwt)
      }
      desk.stop()
    }
  }

  @Test(
    "A start on a full disk serves reads and cached tokens, and makes changes once there is room",
    .enabled(if: getuid() == 0, "mounting a tmpfs takes root"), arguments: [true, false])
  func aStartOnAFullDisk(afterCrash: Bool) throws {
    try onSmallDisk { desk, setFull in
      try desk.start()
      let jwt = try Vendor.mint("alice")
      let first = try desk.connect()
      try desk.create("desk", on: first)
      try first.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
      try first.call("storage.put", ["instance": "desk", "key": "draft", "value": "hello"])
      if afterCrash {
        desk.daemon?.signal(SIGKILL)
        _ = desk.daemon?.exit(within: 10)
      } else {
        desk.stop()
      }
      try setFull(true)
      try desk.start()
      let line = try desk.connect()
      #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
      #expect(try line.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "hello")
      #expect(try line.call("events.list")["events"]?.arrayValue?.isEmpty == false)
      let refusal = try line.failure("storage.put", ["instance": "desk", "key": "draft", "value": "more"])
      #expect(refusal.reason == "storeUnavailable")
      #expect(refusal.message.contains("the disk is full"), "\(refusal.message)")
      let health = try line.call("daemon.health")
      let store = health["checks"]?.arrayValue?.first { $0["name"] == "store" }
      #expect(health["status"] == "degraded" && store?["status"] == "degraded")
      #expect(store?["detail"]?.stringValue?.contains("the disk is full") == true, "\(health)")
      #expect(!JSONWriter.text(of: health).contains("SQLite code"))
      #expect(try line.failure("daemon.backup").message.contains("full"))
      try setFull(false)
      // The same connection continues to serve.
      try eventually("changes are made") {
        (try? line.call("storage.put", ["instance": "desk", "key": "draft", "value": "more"])) != nil
      }
      try eventually("the health is ok") { try line.call("daemon.health")["status"] == "ok" }
      #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
      try desk.crash()
      #expect(
        try desk.connect().call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "more")
    }
  }

  private func mode(_ path: String) throws -> Int {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) ?? -1
  }

  private func contains(_ text: String, _ folder: URL) throws -> Bool {
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      if try Data(contentsOf: file).range(of: Data(text.utf8)) != nil { return true }
    }
    return false
  }
}
