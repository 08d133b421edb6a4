import Foundation
import Glibc
import JSONRPC
import Testing

/// The encryption keys of a real daemon that is killed.
@Suite struct KeyTests {
  @Test func aRotationSurvivesAKillAtAnyMoment() throws {
    let desk = try Desk.open()
    var line = try desk.connect()
    for number in 0..<8 { try desk.create("desk-\(number)", on: line) }
    try line.call("storage.put", ["instance": "desk-0", "key": "draft", "value": "hello"])
    try line.call("daemon.backup", ["name": "copy"])
    #expect(try line.call("daemon.rotateKey")["rewrapped"] == 8)
    for _ in 0..<12 {
      for _ in 0..<3 { _ = line.begin("daemon.rotateKey", [:]) }
      usleep(UInt32.random(in: 0...20_000))
      try desk.crash()
      line = try desk.connect()
      #expect(try line.call("instance.list")["instances"]?.arrayValue?.count == 8)
      #expect(try line.call("daemon.health")["status"] == "ok")
      #expect(try line.call("storage.get", ["instance": "desk-0", "key": "draft"])["value"] == "hello")
    }
    #expect(!desk.logs.contains("does not open"))
  }

  @Test func othersThanAdminsMayNot() throws {
    guard getuid() == 0 else { return }
    let desk = try Desk.open()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: desk.folder.path)
    for method in ["daemon.backup", "daemon.rotateKey"] {
      #expect(try Caller(uid: 4711).reason(desk, method) == "accessDenied")
    }
  }

  @Test func theCredentialTakesThePlaceOfTheFile() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    desk.stop()
    let credentials = desk.folder.appendingPathComponent("credentials")
    try FileManager.default.createDirectory(at: credentials, withIntermediateDirectories: true)
    func give(_ name: String, _ byte: UInt8?, count: Int = 32) throws {
      let file = credentials.appendingPathComponent(name)
      try? FileManager.default.removeItem(at: file)
      if let byte { try Data(repeating: byte, count: count).write(to: file) }
    }
    func reason(_ environment: [String: String]) throws -> String? {
      try desk.start(environment: environment)
      defer { desk.stop() }
      let line = try desk.connect()
      guard let failure = try? line.failure("instance.list") else { return nil }
      #expect(try line.call("daemon.health")["status"] == "failing")
      return failure.reason
    }
    let with = ["CREDENTIALS_DIRECTORY": credentials.path]
    try give("sdkd.key", 1)
    #expect(try reason(with) == nil)
    #expect(!FileManager.default.fileExists(atPath: desk.state.appendingPathComponent("root.key").path))
    #expect(try reason([:]) == "keyMissing")
    try give("sdkd.key", 2)
    #expect(try reason(with) == "keyMissing")
    try give("sdkd.key", 1, count: 16)
    #expect(try reason(with) == "keyMissing")
    try give("sdkd.key", 1)
    try give("sdkd.key.next", 3)
    #expect(try reason(with) == nil)
    try give("sdkd.key.next", nil)
    #expect(try reason(with) == "keyMissing")
    try give("sdkd.key", 3)
    #expect(try reason(with) == nil)
    // Of two credentials, one may be unusable; an empty one could not be decrypted.
    try give("sdkd.key.next", 0, count: 0)
    #expect(try reason(with) == nil)
    try give("sdkd.key.next", 3)
    try give("sdkd.key", 0, count: 0)
    #expect(try reason(with) == nil)
    try give("sdkd.key.next", nil)
    #expect(try reason(with) == "keyMissing")
  }

  @Test("No new key is made for a new state while the credential can't be used", arguments: [0, 16, 33, 4096])
  func anUnusableCredentialMakesNoKey(length: Int) throws {
    let desk = try Desk()
    let credentials = desk.folder.appendingPathComponent("credentials")
    try FileManager.default.createDirectory(at: credentials, withIntermediateDirectories: true)
    try Data(repeating: 1, count: length).write(to: credentials.appendingPathComponent("sdkd.key"))
    try desk.start(environment: ["CREDENTIALS_DIRECTORY": credentials.path])
    let run = try desk.sdkctl(["list"])
    #expect(run.status == 1 && run.error.contains("The credential sdkd.key "), "\(run.error)")
    #expect(try desk.connect().failure("instance.list").reason == "keyMissing")
    desk.stop()
    for name in ["root.key", "root.key.new", "state.db"] {
      #expect(!FileManager.default.fileExists(atPath: desk.state.appendingPathComponent(name).path), "\(name)")
    }
  }
}
