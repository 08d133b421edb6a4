import Foundation
import Glibc
import JSONRPC
import Testing

/// The field failures that matter most, for every kind that can have them.
@Suite struct CrossSDKTests {
  @Test(arguments: KindSample.all)
  func X1_twoInstancesOfOneKindNeverMix(sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "alice", on: line)
    try desk.create("b", sample, user: "bob", on: line)
    let alice = try desk.signIn("a", sample, as: "alice", on: line)
    let bob = try desk.signIn("b", sample, as: "bob", on: line)
    #expect(alice["tokenId"] != bob["tokenId"])
    let (runsOfA, runsOfB) = (desk.runs("a"), desk.runs("b"))
    try line.call("storage.put", ["instance": "a", "key": "draft", "value": "alice's"])
    #expect(try line.call("storage.get", ["instance": "b", "key": "draft"])["value"] == .null)
    // A refusal of A's token does not affect B.
    try line.call("token.reject", ["instance": "a", "tokenId": alice["tokenId"] ?? .null, "status": 401])
    let fresh = try line.call("token.get", ["instance": "a"])
    if sample.provider("alice") != nil, sample.kind != KindSample.support.kind {
      #expect(desk.runs("a") == runsOfA + 1)
    }
    #expect(fresh["tokenId"] != nil)
    #expect(desk.runs("b") == runsOfB)
    #expect(try line.call("token.get", ["instance": "b"])["tokenId"] == bob["tokenId"])
    #expect(try desk.events("b", on: line, "tokenRefreshed", "authenticationFailed").isEmpty)
    let userOfA = try line.call("instance.currentUser", ["instance": "a"])
    let userOfB = try line.call("instance.currentUser", ["instance": "b"])
    #expect(userOfA != userOfB)
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("instance.currentUser", ["instance": "a"])["id"] == userOfA["id"])
    #expect(try next.call("token.get", ["instance": "b"])["tokenId"] == bob["tokenId"])
  }

  @Test("Fifty refusals at once cause one renewal and one event", arguments: KindSample.all)
  func X2_fiftyRefusalsAtOnceMakeOneRenewalAndOneEvent(sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "alice", on: line)
    let token = try desk.signIn("a", sample, as: "alice", on: line)
    if sample.sdk == "sf" {
      try desk.vendor.request("POST", "/_revoke", ["sdk": "sf", "externalId": "alice", "kind": "access"])
    }
    let runs = desk.runs("a")
    let lines = try (0..<50).map { _ in try desk.connect() }
    let rejections = lines.map {
      $0.begin("token.reject", ["instance": "a", "tokenId": token["tokenId"] ?? .null, "status": 401])
    }
    for (line, rejection) in zip(lines, rejections) { #expect(try line.answer(rejection)["error"] == nil) }
    let readers = lines.map { $0.begin("token.get", ["instance": "a"]) }
    var given: Set<String> = []
    for (line, reader) in zip(lines, readers) {
      given.insert(try line.answer(reader)["result"]?["tokenId"]?.stringValue ?? "none")
    }
    #expect(given.count == 1, "\(given)")
    #expect(!given.contains("none"))
    #expect(desk.runs("a") - runs <= 1)
    #expect(try desk.events("a", on: line, "tokenRefreshed").count == 1)
    #expect(try desk.events("a", on: line, "authenticationFailed").isEmpty)
  }

  @Test(
    "Each failure of a provider has its reason and keeps the user",
    arguments: [
      ("sleep 60", "providerTimeout"), ("exit 1", "providerFailed"), ("true", "providerOutputInvalid"),
      ("exec '\(KindSample.sandbox)' mint --external-id alice --ttl=-60", "providerOutputInvalid"),
      ("exec '\(KindSample.sandbox)' mint --external-id mallory", "providerTokenForOtherUser"),
    ])
  func X3_whatAProviderDoesWrongHasItsReasonAndCostsNobodyTheUser(script: String, reason: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    var provider = try desk.provider(script).objectValue ?? [:]
    provider["timeout"] = "1s"
    let settings = try KindSample.messaging.settings(desk.vendor)
    try desk.create("a", kind: KindSample.messaging.kind, on: line, settings: settings, provider: .object(provider))
    let token = try desk.signIn("a", .messaging, as: "alice", on: line)
    #expect(try line.failure("token.refresh", ["instance": "a"]).reason == reason)
    #expect(try line.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
    #expect(try line.call("instance.currentUser", ["instance": "a"])["externalId"] == "alice")
    #expect(try desk.state(of: "a", on: line) == "authenticated")
    try desk.crash()
    #expect(try desk.connect().call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
  }

  @Test(
    "A login that another user's login has superseded leaves nothing behind",
    arguments: KindSample.all.filter { $0.exchange != nil && $0.sdk != "zc" })
  func X4_aSwitchOfUsersInFlightKeepsNothingOfTheOlderEpoch(sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "bob", on: line)
    // Alice's exchange is delayed at the vendor. Bob signs in meanwhile; then Alice's exchange succeeds.
    try desk.vendor.script([
      "route": .string(sample.exchange ?? ""), "delayMs": 1500, "passThrough": true, "times": 1,
    ])
    let (method, alice) = try sample.signIn(desk.vendor, "a", "alice")
    let first = line.begin(method, .object(alice))
    _ = try desk.vendor.log(atLeast: sample.sdk == "zs" ? 2 : 1)
    let other = try desk.connect()
    let (_, bob) = try sample.signIn(desk.vendor, "a", "bob")
    try other.call(method, .object(bob))
    let late = try line.answer(first)
    #expect(late["error"]?["data"]?["reason"] == "superseded", "\(late)")
    let token = try other.call("token.get", ["instance": "a"])
    let user = try other.call("instance.currentUser", ["instance": "a"])
    try eventually("the late answer has come", within: 5) { try desk.vendor.log().allSatisfy { $0["status"] != nil } }
    #expect(try other.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
    try desk.crash()
    let next = try desk.connect()
    #expect(try next.call("instance.currentUser", ["instance": "a"])["id"] == user["id"])
    #expect(try desk.events("a", on: next, "userLoggedIn").count == 1)
  }

  @Test("A logout with the server down behaves as in the SDK", arguments: KindSample.all)
  func X5_aLogoutWithTheServerDownDoesWhatTheSDKDoes(sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("a", sample, user: "alice", on: line, settings: sample.sdk == "ed" ? ["timeout": 2] : [:])
    let token = try desk.signIn("a", sample, as: "alice", on: line)
    try desk.vendor.goDown()
    if sample.sdk == "ed" { try desk.vendor.request("POST", "/_close", ["sdk": "ed"]) }
    let (method, params) = sample.signOut("a")
    let answer = try line.answer(line.begin(method, .object(params)))
    let isKept = sample.keepsUsers
    if isKept, sample.sdk != "ed" { #expect(answer["error"]?["data"]?["reason"] == "serverError") }
    if sample.sdk == "ed" {
      #expect(answer["error"]?["data"]?["retryable"] == true, "\(answer)")
      try eventually("it is told") { try desk.events("a", on: line, "logoutFailed").count == 1 }
    }
    if !isKept { #expect(answer["error"] == nil, "\(answer)") }
    if sample.sdk == "sf" {
      let pending = try line.call("instance.get", ["instance": "a"])["pending"]?.arrayValue ?? []
      #expect(pending.map { $0["purpose"] } == ["revoke"])
    }
    try desk.crash()
    let next = try desk.connect()
    if isKept {
      #expect(try next.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"])
    } else {
      #expect(try next.failure("token.get", ["instance": "a"]).code == -32010)
      #expect(try next.call("instance.currentUser", ["instance": "a"])["authenticated"] == false)
    }
    guard sample.sdk == "sf" else { return }
    #expect(try next.call("instance.get", ["instance": "a"])["pending"]?.arrayValue?.count == 1)
    try desk.vendor.clearScripts()
    try eventually("the token is revoked at the vendor", within: 60) {
      try next.call("instance.get", ["instance": "a"])["pending"] == nil
    }
    #expect(try desk.vendor.count("POST", "/services/oauth2/revoke") >= 1)
  }

  @Test("After a kill between the refresh and the disk, the token is durable or reported as lost")
  func X6_aKillBetweenTheRefreshAndTheDiskLeavesTheTokenDurableOrSaysThatItIsLost() throws {
    for moment in [0, 2_000, 5_000, 10_000, 20_000, 40_000] as [UInt32] {
      let desk = try Desk.open()
      let line = try desk.connect()
      let settings = try KindSample.salesforce.settings(desk.vendor)
        .merged(with: ["client_id": "3MVG9sandbox.rotating"])
      try desk.create("a", kind: KindSample.salesforce.kind, on: line, settings: settings)
      let grant = try desk.vendor.request(
        "POST", "/_grant", ["user": "alice", "client_id": "3MVG9sandbox.rotating", "rotating": true])
      var account = JSONObject()
      for name in ["access_token", "refresh_token", "instance_url", "id"] { account[name] = grant[name] }
      try line.call(
        "serviceChat.setAuthenticationSettings",
        ["instance": "a", "service": "cases", "settings": ["account": .object(account)]])
      _ = line.begin("token.refresh", ["instance": "a"])
      _ = try desk.vendor.log(atLeast: 1)
      usleep(moment)
      try desk.crash()
      let next = try desk.connect()
      // The daemon makes its one attempt with the old refresh token at the start.
      try eventually("the attempt has ended") { try desk.state(of: "a", on: next) != "refreshing" }
      let answer = try next.answer(next.begin("token.get", ["instance": "a"]))
      let instance = try next.call("instance.get", ["instance": "a"])
      if let token = answer["result"]?["token"]?.stringValue {
        // If a token is served, the refresh token that belongs to it was durable: another refresh works.
        #expect(!token.isEmpty)
        let again = try next.answer(next.begin("token.refresh", ["instance": "a"]))
        #expect(again["result"] != nil, "after \(moment) µs: \(again)")
      } else {
        let reason = answer["error"]?["data"]?["reason"]?.stringValue ?? ""
        #expect(["reauthNeeded", "rotationInterrupted"].contains(reason), "after \(moment) µs: \(answer)")
        #expect(instance["lastError"]?["reason"] == "rotationInterrupted", "after \(moment) µs: \(instance)")
        #expect(instance["user"]?["id"] != nil)
      }
    }
  }

  @Test("A clock moved by 90 minutes causes few provider runs, and no expired token is issued")
  func X7_aClockMovedByAnHourMakesNoStormAndHandsOutNothingThatHasExpired() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    try desk.create("a", .messaging, user: "alice", on: line)
    let (method, params) = try KindSample.messaging.signIn(desk.vendor, "a", "alice")
    try line.call(method, .object(params))
    let token = try line.call("token.get", ["instance": "a"])

    // An hour and a half back: the token is valid for longer than before, so no renewal is due.
    try clock.move(to: -5400)
    for _ in 0..<50 { #expect(try line.call("token.get", ["instance": "a"])["tokenId"] == token["tokenId"]) }
    #expect(desk.runs("a") == 0)

    // An hour and a half ahead: the cached token and every token that the provider mints have expired by this clock.
    try clock.move(to: 5400)
    for _ in 0..<50 { #expect(try line.answer(line.begin("token.get", ["instance": "a"]))["result"] == nil) }
    #expect((1...4).contains(desk.runs("a")), "\(desk.runs("a")) runs")
    #expect(try line.call("instance.currentUser", ["instance": "a"])["externalId"] == "alice")
    #expect(try desk.state(of: "a", on: line) == "reauthNeeded")
    #expect(try desk.events("a", on: line, "userLoggedOut").isEmpty)

    // At the right time again, one renewal authenticates the user.
    try clock.move(to: 0)
    #expect(try line.call("token.refresh", ["instance": "a"])["token"]?.stringValue != nil)
    #expect(try desk.state(of: "a", on: line) == "authenticated")
    #expect(desk.runs("a") <= 5)
  }

  @Test("No log, event, instance or health report contains a secret")
  func X8_noSecretIsInALogAnEventOrAnAnswerThatShowsNone() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    var secrets: [String] = []
    for sample in KindSample.all {
      let id = sample.sdk
      try desk.create(id, sample, user: "alice", on: line)
      let (method, params) = try sample.signIn(desk.vendor, id, "alice")
      try line.call(method, .object(params))
      for member in params.members where !["instance", "service", "user"].contains(member.key) {
        secrets += Self.texts(of: member.value)
      }
      let token = try line.call("token.get", ["instance": .string(id), "http": true])
      secrets += Self.texts(of: token["token"]) + Self.texts(of: token["http"])
      try line.call("token.reject", ["instance": .string(id), "tokenId": token["tokenId"] ?? .null, "status": 401])
      secrets += Self.texts(of: try? line.call("token.get", ["instance": .string(id)])["token"])
      _ = try? line.call(
        "push.register",
        ["instance": .string(id), "endpoint": ["address": .string("push-address-of-\(id)-0815"), "type": "fcm"]])
      secrets.append("push-address-of-\(id)-0815")
      let (out, more) = sample.signOut(id)
      try line.call(out, .object(more))
    }
    let shown = JSONWriter.text(
      of: [
        try line.call("events.list", ["limit": 500]), try line.call("instance.list"), try line.call("daemon.health"),
      ])
    desk.stop()
    #expect(secrets.count > 20)
    for secret in Set(secrets) where secret.utf8.count >= 12 && !secret.contains("://") {
      #expect(!shown.contains(secret), "an event or an instance shows \(secret.prefix(16))…")
      #expect(!desk.logs.contains(secret), "the log shows \(secret.prefix(16))…")
    }
  }

  /// Returns every string in a value that may be a secret, without the members that hold ids, types and names.
  private static func texts(of json: JSON?) -> [String] {
    switch json {
    case .string(let text)?: [text]
    case .array(let all)?: all.flatMap { texts(of: $0) }
    case .object(let object)?:
      object.members.flatMap { member -> [String] in
        ["id", "type", "scheme", "X-Ext-Client-ID", "Client-Identifier", "X-Header-Encoding", "X-Org-Id"].contains(
          member.key)
          ? [] : texts(of: member.value)
      }
    default: []
    }
  }
}
