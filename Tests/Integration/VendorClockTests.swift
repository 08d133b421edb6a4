import Foundation
import Glibc
import JSONRPC
import Testing

/// A wrong `Date` in a vendor's responses prevents no sign-in. The daemon reports it, and forgets it again.
@Suite struct VendorClockTests {
  /// The source of a credential that has expired by one of the two clocks.
  enum Source: String, CaseIterable {
    case caller, provider
    /// A provider whose token is opaque and has an `expiresAt`.
    case opaque
  }

  /// A difference between the vendor's `Date` and the machine's clock.
  enum Clock: String, CaseIterable {
    /// `Date` is wrong, as in a proxy's responses; the vendor itself has the right time.
    case wrongAhead, wrongBehind
    /// The vendor's own clock is behind.
    case reallyBehind

    var seconds: Int { self == .wrongAhead ? 7200 : -7200 }
    /// The time by the vendor's own clock, relative to the machine's.
    var vendorTime: Int { self == .reallyBehind ? seconds : 0 }
    var words: String { self == .wrongAhead ? "s ahead" : "s behind" }
  }

  /// The kinds whose credentials have an end that is checked before the vendor sees them.
  static let rows: [(kind: KindSample, source: Source)] = [
    (.messaging, .caller), (.messaging, .provider), (.chat, .caller), (.chat, .provider), (.edna, .caller),
    (.edna, .provider), (.edna, .opaque),
  ]

  /// Returns a JWT that was issued at the vendor's time and lives for `seconds` from then.
  private static func jwt(_ kind: String, _ clock: Clock, lives seconds: Int) throws -> String {
    let issued = Int(Date().timeIntervalSince1970) + clock.vendorTime
    let isChat = kind == "zendesk.chat"
    return try Vendor.mint(
      "alice", ttl: isChat ? min(seconds, 300) : seconds,
      ["--issued-at=\(issued)"] + (isChat ? ["--sdk", "chat"] : []))
  }

  /// Returns the claim `exp` of a JWT.
  private static func end(_ jwt: String) throws -> Double {
    var part = String(jwt.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
    part += String(repeating: "=", count: (4 - part.count % 4) % 4)
    return try JSONParser.parse(Array(Data(base64Encoded: part) ?? Data()))["exp"]?.doubleValue ?? 0
  }

  private static func date(_ seconds: Int) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSinceNow: Double(seconds)))
  }

  /// Makes the vendor's `Date` differ from now on.
  private func set(_ clock: Clock, at vendor: Vendor) throws {
    if clock == .reallyBehind {
      try vendor.request("POST", "/_clock", ["offsetSeconds": JSON(clock.seconds)])
    } else {
      for route in ["POST /v2/**", "POST /authenticated/**", "GET /api/**"] {
        try vendor.script(
          [
            "route": .string(route), "passThrough": true, "times": "forever",
            "headers": ["Date": .string(Self.date(clock.seconds))],
          ])
      }
    }
  }

  /// Supplies a credential. Returns the response of the call that needs the vendor's decision about it.
  private func supply(_ jwt: String, _ kind: String, _ source: Source, _ desk: Desk, _ line: Line) throws -> JSON {
    switch (source, kind) {
    case (.caller, "zendesk.messaging"):
      return try line.answer(line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)]))
    case (.caller, "zendesk.chat"):
      let set = try line.answer(line.begin("chat.setIdentity", ["instance": "desk", "jwt": .string(jwt)]))
      return set["error"] == nil ? try line.answer(line.begin("token.refresh", ["instance": "desk"])) : set
    case (.caller, _):
      return try line.answer(
        line.begin(
          "chatCenter.authorize",
          [
            "instance": "desk", "user": ["identifier": "u-1"], "auth": ["token": .string(jwt)], "wait": true,
          ]))
    case (.provider, _), (.opaque, _):
      var answer: JSONObject = ["token": .string(jwt)]
      if source == .opaque {
        let end = Date(timeIntervalSince1970: try Self.end(jwt))
        answer = [
          "token": .string("opaque-\(UUID().uuidString)"), "expiresAt": .string(end.ISO8601Format()),
        ]
      }
      try desk.write("answer", JSONWriter.text(of: .object(answer)))
      if kind == "zendesk.chat" { try line.call("chat.setIdentity", ["instance": "desk"]) }
      return try line.answer(line.begin("token.refresh", ["instance": "desk"]))
    }
  }

  @Test(
    "The vendor decides about a credential that has ended by one clock only, whatever its source",
    arguments: rows.indices, Clock.allCases)
  func theVendorDecides(index: Int, clock: Clock) throws {
    let (sample, source) = Self.rows[index]
    let desk = try Desk.open()
    let line = try desk.connect()
    var settings = try sample.settings(desk.vendor).merged(with: ["refresh": ["mode": "lazy", "min_interval": 0]])
    if sample.kind == "zendesk.messaging" { settings["realtime"] = "off" }
    try desk.create("desk", kind: sample.kind, on: line, settings: settings)
    #expect(try desk.check("vendorClocks", on: line)?["status"] == "ok")
    try set(clock, at: desk.vendor)
    // This one lives by both clocks, except in Chat, whose JWTs live for minutes. There two refusals agree.
    let issued = sample.kind == "zendesk.chat" ? .wrongAhead : clock
    for seconds in [10_800, 10_801] {
      _ = try supply(Self.jwt(sample.kind, issued, lives: seconds), sample.kind, .caller, desk, line)
    }
    let learned = try desk.check("vendorClocks", on: line)
    #expect(learned?["status"] == "degraded")
    #expect(learned?["detail"]?.stringValue?.contains("desk (") == true)
    #expect(learned?["detail"]?.stringValue?.contains(clock.words) == true, "\(learned ?? .null)")
    let notices = desk.logs.split(separator: "\n").filter { $0.contains("By the vendor's responses") }
    #expect(notices.contains { $0.contains(clock.words) }, "\(notices)")
    let provider = try desk.provider("exec cat '\(desk.folder.path)/answer'")
    if source != .caller { try line.call("instance.update", ["instance": "desk", "provider": provider]) }
    // The next one has ended by one clock, and lives by the vendor's own.
    let before = try desk.vendor.log().count
    let result = try supply(Self.jwt(sample.kind, clock, lives: 3600), sample.kind, source, desk, line)
    #expect(result["error"] == nil, "\(JSONWriter.text(of: result))")
    #expect(try desk.vendor.log().count > before)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] != nil)
    // Once the vendor's responses have the right time, the difference is unlearned.
    try desk.vendor.clearScripts()
    try desk.vendor.request("POST", "/_clock", ["offsetSeconds": 0])
    let last = try supply(Self.jwt(sample.kind, .wrongAhead, lives: 3601), sample.kind, source, desk, line)
    #expect(last["error"] == nil, "\(JSONWriter.text(of: last))")
    #expect(try desk.check("vendorClocks", on: line)?["status"] == "ok")
    #expect(try line.call("token.get", ["instance": "desk"])["token"] != nil)
  }

  @Test(
    "Callers see the clocks of their own instances only",
    .enabled(if: getuid() == 0, "needs root for callers of another user"))
  func hidden() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["realtime": "off"], access: ["use": ["uid:65533"]])
    try desk.vendor.request("POST", "/_clock", ["offsetSeconds": 7200])
    try desk.logIn(ttl: 10_800, on: line)
    for (uid, isShown) in [(65_533, true), (65_534, false)] {
      let health = try Caller(uid: uid).lines(desk, [("daemon.health", [:])]).joined()
      #expect(health.contains("vendorClocks"), "\(health)")
      #expect(health.contains("desk (") == isShown, "\(health)")
    }
  }
}
