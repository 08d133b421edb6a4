import Foundation
import JSONRPC
import Testing

/// Facts from outside that turned out wrong. Each is unlearned without a restart.
/// `VendorClockTests` has the vendor's clock, and `RecoveryHistoryTests` the pauses.
@Suite struct UnlearnedTests {
  /// A fact from outside, and the way to unlearn it.
  enum Fact: String, CaseIterable {
    case accountType, pause
    case placeByALogin, placeByARenewal, placeByASession
    case unreachableMessaging, unreachableSupport, unreachableSalesforce, unreachableChat, unreachableEdna
  }

  @Test("A wrong fact from outside is unlearned", arguments: Fact.allCases)
  func unlearned(fact: Fact) throws {
    switch fact {
    case .accountType: try accountType()
    case .pause: try pause()
    case .placeByALogin, .placeByARenewal, .placeByASession: try place(fact)
    case .unreachableMessaging: try unreachable(.messaging)
    case .unreachableSupport: try unreachable(.support)
    case .unreachableSalesforce: try unreachable(.salesforce)
    case .unreachableChat: try unreachable(.chat)
    case .unreachableEdna: try unreachable(.edna)
    }
  }

  /// Support's account took another type of identity.
  private func accountType() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    try desk.create(
      "desk", kind: KindSample.support.kind, on: line, settings: try KindSample.support.settings(desk.vendor))
    try desk.signIn("desk", .support, as: "alice", on: line)
    let anonymous: JSON = ["instance": "desk", "identity": ["type": "anonymous"]]
    #expect(try line.failure("support.setIdentity", anonymous).reason == "identityMismatch")
    try desk.vendor.request("POST", "/_options", ["sdk": "zs", "authentication": "anonymous"])
    // The settings are read again at most once a minute.
    try clock.move(to: 61)
    try line.call("support.setIdentity", anonymous)
  }

  /// The vendor wanted no request for ten minutes. That holds for a token that an app has reported, too.
  private func pause() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    try desk.create("desk", .support, user: "alice", on: line, settings: ["refresh": ["min_interval": 0]])
    try desk.signIn("desk", .support, as: "alice", on: line)
    let token = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? nil
    func exchanges() throws -> Int { try desk.vendor.count("POST", "/access/sdk/jwt") }
    let before = try exchanges()
    // The token at hand can't be checked either.
    try desk.vendor.script(["route": "GET /api/mobile/users/me.json", "status": 503, "times": "forever"])
    try desk.vendor.script(["route": "POST /access/sdk/jwt", "status": 503, "headers": ["retry-after": "600"]])
    try line.call("token.reject", ["instance": "desk", "tokenId": token, "status": 401])
    for _ in 0..<3 {
      #expect(try line.failure("token.get", ["instance": "desk"]).reason == "serverError")
      #expect(try exchanges() == before + 1)
    }
    try desk.vendor.clearScripts()
    try clock.move(to: 601)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] != nil)
    #expect(try exchanges() == before + 2)
  }

  /// The vendor's settings led Messaging to a base URL where the app is no more.
  private func place(_ fact: Fact) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let former = Vendor(namespace: UUID().uuidString.lowercased())
    let settings = try desk.vendor.messaging + "/settings/5f0000000000000000000002.json"
    try desk.create(
      "desk", kind: KindSample.messaging.kind, on: line,
      settings: [
        "settings_url": .string(settings), "realtime": "off", "refresh": ["mode": "lazy", "min_interval": 0],
      ],
      provider: try desk.mintingProvider())
    try desk.vendor.script(
      [
        "route": "GET /zm/settings/*",
        "body": [
          "sunco_config": ["app": ["id": .string(Desk.app)], "baseURL": ["ios": .string(try former.messaging)]]
        ],
      ])
    try desk.logIn(on: line)
    #expect(try former.count("POST", "/login") == 1)
    try former.script(["route": "/v2/**", "status": 404, "times": "forever"])
    switch fact {
    case .placeByALogin: try desk.logIn(as: "bob", on: line)
    case .placeByARenewal: try line.call("token.refresh", ["instance": "desk"])
    default:
      try line.call("messaging.logoutUser", ["instance": "desk", "localOnly": true])
      try line.call("session.open", ["instance": "desk"])
    }
    let session = try line.call("session.open", ["instance": "desk"])
    #expect(session["visible"] == true)
    #expect(session["endpoint"]?["baseUrl"] == .string(try desk.vendor.messaging))
    // The new place is kept: it is not read again, and the former one is not tried again.
    let (reads, tries) = (try desk.vendor.count("GET", ".json"), try former.count("POST", "/login"))
    try desk.logIn(as: "carol", on: line)
    #expect(try desk.vendor.count("GET", ".json") == reads)
    #expect(try former.count("POST", "/login") == tries)
  }

  /// The vendor could not be reached.
  private func unreachable(_ sample: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    var settings: JSONObject = ["refresh": ["min_interval": 0]]
    if sample.kind == KindSample.chat.kind { settings["fallback"] = "fail" }
    try desk.create("desk", sample, user: "alice", on: line, settings: settings)
    try desk.vendor.goDown()
    for _ in 0..<3 { _ = try? desk.signIn("desk", sample, as: "alice", on: line) }
    try desk.vendor.clearScripts()
    #expect(try desk.signIn("desk", sample, as: "alice", on: line)["token"] != nil)
    #expect(try desk.state(of: "desk", on: line) == "authenticated")
  }
}
