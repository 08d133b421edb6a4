import Foundation
import Glibc
import JSONRPC
import Testing

/// Logins and logouts that follow each other: their order, and the data that is left after a switch to another user.
@Suite struct IdentityChangeTests {
  // MARK: A logout is a barrier

  @Test("A login waits for the end of the logout before it and never supersedes it", arguments: ["u-1", "u-2"])
  func E6_aLoginAfterALogoutWaitsForItsEndAndNeverSupersedesIt(next: String) throws {
    let desk = try EdnaDesk()
    try desk.authorize("u-1")
    try desk.call("storage.put", ["key": "draft", "value": "mine"])
    try desk.call("prefill", ["message": "Hello"])
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["delayMs": 500])
    let logout = try #require(try desk.call("logout")["operation"]?.stringValue)
    let login = try desk.begin(next)
    #expect(try desk.outcome(of: logout)["type"] == "userLoggedOut")
    #expect(try desk.outcome(of: login)["type"] == "userLoggedIn")
    #expect(try desk.externalId == next)
    #expect(try desk.offline == ["u-1"])
    #expect(try desk.events("logoutFailed").isEmpty)
    #expect(try desk.events("pushOrphaned").isEmpty)
    #expect(try desk.events("pushUnregistered").count == 1)
    #expect(try desk.call("storage.get", ["key": "draft"])["value"] == .null)
    #expect(try desk.call("getChat")["prefill"] == nil)
    try desk.crash()
    #expect(try desk.externalId == next)
  }

  @Test(
    "After a failed logout, the next login is a switch", arguments: [["close": true], ["drop": true]] as [JSONObject])
  func E6_afterALogoutThatFailedTheNextLoginIsASwitch(script: JSONObject) throws {
    let desk = try EdnaDesk(settings: ["timeout": "2s"])
    try desk.authorize("u-1")
    try desk.call("push.register", ["endpoint": ["address": "push-address-1", "type": "fcm"]])
    try desk.script("WS /ed/ws CLIENT_OFFLINE", script)
    let logout = try #require(try desk.call("logout")["operation"]?.stringValue)
    let login = try desk.begin("u-2")
    let failed = try desk.outcome(of: logout)
    #expect(failed["type"] == "logoutFailed")
    #expect(["network", "timeout"].contains(failed["data"]?["reason"]?.stringValue))
    try eventually("the next user is signed in") {
      try desk.events("userLoggedIn").last?["operation"] == .string(login)
    }
    #expect(try desk.events("pushOrphaned").count == 1)
    #expect(try desk.externalId == "u-2")
  }

  @Test("With on_switch = logout, a logout and the next login send one logout to the vendor")
  func E6_onSwitchLogoutTellsTheVendorOnce() throws {
    let desk = try EdnaDesk(settings: ["on_switch": "logout"])
    try desk.authorize("u-1")
    try desk.script("WS /ed/ws CLIENT_OFFLINE", ["delayMs": 500])
    try desk.call("logout")
    #expect(try desk.outcome(of: try desk.begin("u-2"))["type"] == "userLoggedIn")
    #expect(try desk.frames("CLIENT_OFFLINE").count == 1)
    #expect(try desk.offline == ["u-1"])
  }

  @Test("A login waits for the end of the logout before it")
  func M3_aLoginAfterALogoutWaitsForItsEnd() throws {
    let (desk, line) = try open()
    try desk.logIn(on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "delayMs": 500, "passThrough": true])
    let logout = line.begin("messaging.logoutUser", ["instance": "desk"])
    let again = line.begin("messaging.logoutUser", ["instance": "desk"])
    let login = line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    #expect(try line.answer(logout)["result"]?["backendInformed"] == true)
    #expect(try line.answer(again)["result"]?["backendInformed"] == false)
    #expect(try line.answer(login)["result"]?["externalId"] == "bob")
    #expect(try desk.vendor.count("POST", "/logout") == 1)
    #expect(try desk.events("desk", on: line, "userLoggedOut").map { $0["data"]?["cause"] } == ["explicit"])
  }

  @Test("A login fails with timeout if the logout before it takes too long")
  func M3_aLoginIsRefusedWhenTheLogoutBeforeItTakesTooLong() throws {
    let (desk, line) = try open(timeout: 1, provider: "sleep 6; exec \(BridgeDesk.mint)")
    try desk.logIn(ttl: Vendor.shortLife, on: line)
    try desk.waitForTheEnd(on: line)
    let logout = line.begin("messaging.logoutUser", ["instance": "desk"])
    let late = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    #expect(late.reason == "timeout")
    #expect(late.isRetryable)
    #expect(try line.answer(logout)["result"]?["backendInformed"] == true)
    try desk.logIn(as: "bob", on: line)
  }

  @Test("A login right after a logout succeeds, and the logout is reported", arguments: KindSample.all)
  func R10_aLoginRightAfterALogoutSucceedsAndTheLogoutIsTold(sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "alice", on: line)
    _ = try desk.signIn("a", sample, as: "alice", on: line)
    let (out, outParams) = sample.signOut("a")
    let (method, params) = try sample.signIn(desk.vendor, "a", "bob")
    let calls = [line.begin(out, .object(outParams)), line.begin(method, .object(params))]
    for call in calls { #expect(try line.answer(call)["error"] == nil) }
    #expect(try line.call("token.get", ["instance": "a"])["token"] != nil)
    #expect(try desk.events("a", on: line, "userLoggedOut").map { $0["data"]?["cause"] } == ["explicit"])
    #expect(try desk.events("a", on: line, "logoutFailed").isEmpty)
  }

  /// The kinds that report a logout to the vendor, and the scripts that delay the vendor's response.
  private static let slowLogouts: [(sample: KindSample, script: JSONObject)] = [
    (.edna, ["route": "WS /ed/ws CLIENT_OFFLINE", "delayMs": 700]),
    (.messaging, ["route": "POST /v2/apps/*/appusers/*/logout", "delayMs": 700, "passThrough": true]),
  ]

  /// A way to change an instance's settings.
  enum Move: CaseIterable {
    case updateToAnotherBackend, updateOfAnotherSetting, reloadToAnotherBackend
  }

  @Test("A change of settings waits for the logout before it", arguments: slowLogouts.indices, Move.allCases)
  func R10_otherSettingsWaitForTheLogoutBeforeThem(index: Int, move: Move) throws {
    let (sample, script) = Self.slowLogouts[index]
    let desk = try Desk()
    let other = try sample.settings(Vendor(namespace: UUID().uuidString))
    if move == .reloadToAnotherBackend { try desk.file("a", sample, try sample.settings(desk.vendor)) }
    try desk.start()
    let line = try desk.connect()
    if move != .reloadToAnotherBackend { try desk.create("a", sample, user: "alice", on: line) }
    _ = try desk.signIn("a", sample, as: "alice", on: line)
    try line.call("push.register", ["instance": "a", "endpoint": ["address": "push-address-1", "type": "fcm"]])
    let logout = try beginLogout(sample, script, desk, line)
    let admin = try desk.connect()
    switch move {
    case .updateToAnotherBackend: try admin.call("instance.update", ["instance": "a", "settings": .object(other)])
    case .updateOfAnotherSetting: try admin.call("instance.update", ["instance": "a", "settings": ["timeout": 9]])
    case .reloadToAnotherBackend:
      try desk.file("a", sample, other)
      #expect(try admin.call("daemon.reload")["changed"] == ["a"])
    }
    #expect(try line.answer(logout)["error"] == nil)
    let told = try desk.events("a", on: line)
    #expect(told.filter { $0["type"] == "userLoggedOut" }.map { $0["data"]?["cause"] } == ["explicit"])
    #expect(told.last?["type"] == "instanceUpdated")
    for type in ["logoutFailed", "pushOrphaned"] { #expect(!told.contains { $0["type"]?.stringValue == type }) }
    let settings = try line.call("instance.get", ["instance": "a"])["settings"]
    for member in other.members where move != .updateOfAnotherSetting {
      #expect(settings?[member.key] == member.value)
    }
    // The next user signs in with the settings that are now in force.
    if move == .updateOfAnotherSetting {
      #expect(try desk.signIn("a", sample, as: "bob", on: line)["token"] != nil)
    }
  }

  /// Begins a logout and waits until it has reached the vendor, which responds as `script` says. Returns the call's id.
  private func beginLogout(_ sample: KindSample, _ script: JSONObject, _ desk: Desk, _ line: Line) throws -> Int {
    try desk.vendor.script(.object(script))
    let (method, params) = sample.signOut("a")
    let logout = line.begin(method, .object(params))
    try eventually("the logout is at the vendor") {
      try desk.vendor.log().contains {
        $0["path"]?.stringValue?.hasSuffix("/logout") == true
          || $0["body"]?.stringValue?.contains("CLIENT_OFFLINE") == true
      }
    }
    return logout
  }

  @Test("A change of settings takes effect after a failed logout", arguments: [true, false])
  func R10_otherSettingsTakeEffectWhenTheLogoutBeforeThemHasFailed(byFile: Bool) throws {
    let desk = try Desk()
    let settings = { (vendor: Vendor) in
      try KindSample.messaging.settings(vendor).merged(with: ["timeout": 1, "realtime": "off"])
    }
    let other = try settings(Vendor(namespace: UUID().uuidString))
    if byFile { try desk.file("a", .messaging, try settings(desk.vendor)) }
    try desk.start()
    let line = try desk.connect()
    if !byFile { try desk.create("a", .messaging, user: "alice", on: line, settings: try settings(desk.vendor)) }
    _ = try desk.signIn("a", .messaging, as: "alice", on: line)
    let logout = try beginLogout(
      .messaging, ["route": "POST /v2/apps/*/appusers/*/logout", "hang": true], desk, line)
    let admin = try desk.connect()
    if byFile {
      try desk.file("a", .messaging, other)
      #expect(try admin.call("daemon.reload")["changed"] == ["a"])
    } else {
      try admin.call("instance.update", ["instance": "a", "settings": .object(other)])
    }
    #expect(try line.answer(logout)["error"]?["data"]?["reason"] == "timeout")
    #expect(try line.call("instance.get", ["instance": "a"])["settings"]?["base_url"] == other["base_url"])
    #expect(try desk.events("a", on: line, "userLoggedOut").map { $0["data"]?["cause"] } == ["switch"])
  }

  @Test("A change of labels does not wait for a logout")
  func R10_labelsDoNotWaitForALogout() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", .messaging, user: "alice", on: line)
    _ = try desk.signIn("a", .messaging, as: "alice", on: line)
    let logout = try beginLogout(
      .messaging, ["route": "POST /v2/apps/*/appusers/*/logout", "hang": true], desk, line)
    let admin = try desk.connect()
    try admin.call("instance.update", ["instance": "a", "labels": ["floor": "2"]])
    #expect(try admin.call("instance.get", ["instance": "a"])["labels"] == ["floor": "2"])
    #expect(try desk.events("a", on: admin, "userLoggedOut", "networkError").isEmpty)
    try desk.vendor.clearScripts()
    _ = try line.answer(logout)
  }

  // MARK: Another user

  private func open(timeout: Double = 20, provider: String? = nil) throws -> (Desk, Line) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["realtime": "off", "timeout": JSON(timeout), "refresh": ["mode": "lazy"]],
      provider: try provider.map { try desk.provider("echo run >> '\(desk.folder.path)/runs-desk'; \($0)") })
    return (desk, line)
  }

  private static let failures: [(script: JSONObject, reason: String)] = [
    (["status": 401], "invalidAuth"), (["status": 503], "serverError"), (["hang": true], "timeout"),
    (["closeMidBody": true], "network"),
  ]

  @Test("A failed login of another user keeps the current user and the data", arguments: failures.indices)
  func M1_aLoginOfAnotherUserThatFailsLeavesTheFormerUser(index: Int) throws {
    let (script, reason) = Self.failures[index]
    let (desk, line) = try open(timeout: 1)
    let jwt = try desk.logIn(on: line)
    try line.call("storage.put", ["instance": "desk", "key": "draft", "value": "alice's"])
    try line.call("push.register", ["instance": "desk", "endpoint": ["address": "a-1", "type": "fcm"]])
    try desk.vendor.script(
      .object((["route": "POST /v2/apps/*/login", "times": 1] as JSONObject).merged(with: script)))
    let error = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    #expect(error.reason == reason)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try desk.user(on: next)["externalId"] == "alice")
    #expect(try next.call("storage.get", ["instance": "desk", "key": "draft"])["value"] == "alice's")
    #expect(try next.call("push.list", ["instance": "desk"])["pushes"]?.arrayValue?.count == 1)
    #expect(try desk.events("desk", on: next, "userLoggedOut", "identityWiped").isEmpty)
    try desk.vendor.clearScripts()
  }

  @Test("The former user stays signed in while another login is in progress")
  func M1_theFormerUserStaysSignedInWhileAnotherLoginIsUnderWay() throws {
    let (desk, line) = try open()
    let jwt = try desk.logIn(on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "delayMs": 800, "passThrough": true, "times": 1])
    let login = line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    let other = try desk.connect()
    #expect(try other.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    #expect(try line.answer(login)["result"]?["externalId"] == "bob")
  }

  @Test("The former user is logged out at the vendor with that user's own token, even after a restart")
  func M1_theFormerUserIsLoggedOutAtTheVendorWithTheirOwnTokenAcrossRestarts() throws {
    let (desk, line) = try open()
    let alice = try desk.logIn(on: line)
    let id = try desk.user(on: line)["id"]?.stringValue ?? ""
    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "status": 503, "times": "forever"])
    let bob = try desk.logIn(as: "bob", on: line)
    let pending = try line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? []
    #expect(pending.map { $0["purpose"] } == ["logout"])
    try desk.crash()
    try desk.vendor.clearScripts()
    let next = try desk.connect()
    try eventually("the former user is logged out", within: 30) {
      try desk.vendor.calls().contains("POST logout 200")
        && next.call("instance.get", ["instance": "desk"])["pending"] == nil
    }
    let told = try desk.vendor.log().last { $0["path"]?.stringValue?.hasSuffix("/logout") == true }
    #expect(told?["path"]?.stringValue?.contains("/\(id)/") == true)
    #expect(told?["headers"]?["Authorization"] == .string("Bearer \(alice)"))
    #expect(try next.call("token.get", ["instance": "desk"])["token"] == .string(bob))
    #expect(try desk.vendor.client()["userId"] == (try desk.user(on: next)["id"]))
  }

  @Test("A new login of the former user cancels that user's pending logout")
  func M1_aFormerUserWhoComesBackIsNotLoggedOutAnyMore() throws {
    let (desk, line) = try open()
    try desk.logIn(on: line)
    try desk.vendor.script(["route": "POST /v2/apps/*/appusers/*/logout", "status": 503, "times": "forever"])
    try desk.logIn(as: "bob", on: line)
    let first = try line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.first?["id"]
    try desk.logIn(on: line)
    let pending = try line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? []
    #expect(pending.count == 1)
    #expect(pending.first?["id"] != first)
    #expect(try desk.user(on: line)["externalId"] == "alice")
  }

  @Test("The next user does not inherit the former user's push registration")
  func M1_theNextUserDoesNotGetTheFormerUsersPushes() throws {
    let (desk, line) = try open()
    try desk.logIn(on: line)
    try line.call("push.register", ["instance": "desk", "endpoint": ["address": "a-1", "type": "fcm"]])
    try desk.logIn(as: "bob", on: line)
    #expect(try line.call("push.list", ["instance": "desk"])["pushes"] == [])
    let client = try desk.vendor.client()
    #expect(client["userId"] == (try desk.user(on: line)["id"]))
    #expect(client["pushNotificationToken"] == nil)
  }

  @Test(
    "The former user is wiped before the login of the next one is reported",
    arguments: [KindSample.messaging, .support, .salesforce, .edna])
  func R3_theFormerUserIsWipedBeforeTheNextIsToldOf(sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "alice", on: line)
    for user in ["alice", "bob"] { _ = try desk.signIn("a", sample, as: user, on: line) }
    let told = try desk.events("a", on: line, "userLoggedOut", "identityWiped", "userLoggedIn").suffix(3)
    #expect(told.map { $0["type"]?.stringValue } == ["userLoggedOut", "identityWiped", "userLoggedIn"])
  }

  @Test("The next user does not inherit the former user's throttle")
  func R5_theNextUserDoesNotInheritTheFormerUsersThrottle() throws {
    let (desk, line) = try open(provider: "exec \(BridgeDesk.mint)")
    for user in ["alice", "bob"] {
      let first = try desk.logIn(as: user, on: line)
      let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
      try line.call("token.reject", ["instance": "desk", "tokenId": id, "status": 401])
      #expect(try line.call("token.get", ["instance": "desk"])["token"] != .string(first))
    }
    #expect(desk.runs("desk") == 2)
  }

  // MARK: A full disk

  @Test(
    "With a full disk, no logout is sent to the vendor", .enabled(if: getuid() == 0, "needs root to mount a small disk")
  )
  func R12_onAFullDiskTheVendorIsNotToldOfALogout() throws {
    let desk = try Desk()
    try FileManager.default.createDirectory(at: desk.state, withIntermediateDirectories: true)
    guard mount("none", desk.state.path, "tmpfs", 0, "size=2m,mode=0700") == 0 else {
      throw Program.Failure(description: "no tmpfs can be mounted")
    }
    defer { _ = umount2(desk.state.path, Int32(MNT_DETACH)) }
    try desk.start()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["realtime": "off"])
    let jwt = try desk.logIn(on: line)
    let ballast = desk.state.appendingPathComponent("ballast")
    let descriptor = creat(ballast.path, 0o600)
    let block = [UInt8](repeating: 1, count: 4096)
    while write(descriptor, block, block.count) > 0 {}
    close(descriptor)
    // The store's log has space of its own, which must be used up first.
    var isFull = false
    for index in 0..<200 where !isFull {
      let value = JSON.string(String(repeating: "x", count: 20_000))
      let call = line.begin("storage.put", ["instance": "desk", "key": .string("k\(index)"), "value": value])
      isFull = try line.answer(call)["error"]?["data"]?["reason"] == "storeUnavailable"
    }
    #expect(isFull)
    #expect(try line.failure("messaging.logoutUser", ["instance": "desk"]).reason == "storeUnavailable")
    #expect(try desk.vendor.count("POST", "/logout") == 0)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(jwt))
    unlink(ballast.path)
    try eventually("a logout succeeds", within: 60) {
      try line.answer(line.begin("messaging.logoutUser", ["instance": "desk"]))["result"]?["backendInformed"] == true
    }
    #expect(try desk.state(on: line) == "loggedOut")
    desk.stop()
  }
}
