import Foundation
import JSONRPC
import Testing

/// A stop waits, within the grace, for vendor requests that must not be sent twice, and for accepted operations.
@Suite struct FinishedRequestTests {
  /// A call whose request is at the vendor when a stop begins.
  private struct SentOnce: Sendable {
    let name: String
    let begin: @Sendable (Desk, Line) throws -> Int
    /// Returns the number of requests at the vendor.
    let count: @Sendable (Desk) throws -> Int
    /// Whether the state after the restart shows that the call succeeded.
    let holds: @Sendable (Desk, Line) throws -> Bool
  }

  /// Delays the response of a route, so that a stop begins while the request is at the vendor.
  private static func delay(_ route: String, milliseconds: Int = 2000, _ desk: Desk) throws {
    let isFrame = route.hasPrefix("WS ")
    var script: JSONObject = ["route": .string(route), "delayMs": JSON(milliseconds), "times": 1]
    if !isFrame { script["passThrough"] = true }
    try desk.vendor.script(.object(script))
  }

  /// Returns the number of frames with this name.
  private static func frames(_ name: String, _ desk: Desk) throws -> Int {
    try desk.vendor.log().count { entry in
      entry["method"] == "WS" && entry["body"]?.stringValue?.contains("\"\(name)\"") == true
    }
  }

  /// Returns the types of the events that an operation has ended with.
  private static func outcomes(_ desk: Desk, _ line: Line) throws -> [String] {
    try desk.events("desk", on: line).filter { $0["operation"] != nil }.compactMap { $0["type"]?.stringValue }
  }

  private static func pending(_ line: Line) throws -> [JSON] {
    try line.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue ?? []
  }

  private static let ednaUser: JSONObject = [
    "instance": "desk", "user": ["identifier": "user-alice-7f3a"], "auth": ["token": "edna-token-of-alice"],
  ]

  private static let samples: [SentOnce] = [
    SentOnce(
      name: "a login",
      begin: { desk, line in
        try desk.create("desk", on: line)
        try delay("POST /v2/apps/*/login", desk)
        return line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
      },
      count: { try $0.vendor.count("POST", "/login") },
      holds: { desk, line in try desk.user(on: line)["externalId"] == "alice" }),
    SentOnce(
      name: "a logout",
      begin: { desk, line in
        try desk.create("desk", on: line)
        try desk.logIn(on: line)
        try delay("POST /v2/apps/*/appusers/*/logout", desk)
        return line.begin("messaging.logoutUser", ["instance": "desk"])
      },
      count: { try $0.vendor.count("POST", "/logout") },
      holds: { desk, line in try desk.state(on: line) == "loggedOut" }),
    SentOnce(
      name: "a rotating refresh",
      begin: { desk, line in
        let settings = try KindSample.salesforce.settings(desk.vendor)
          .merged(with: ["client_id": .string(ServiceDesk.rotating)])
        try desk.create("desk", kind: KindSample.salesforce.kind, on: line, settings: settings)
        let grant = try desk.vendor.request(
          "POST", "/_grant", ["user": "alice", "client_id": .string(ServiceDesk.rotating)])
        try line.call(
          "serviceChat.setAuthenticationSettings",
          ["instance": "desk", "service": "cases", "settings": ServiceDesk.settings(grant)])
        try delay("POST /services/oauth2/token", desk)
        return line.begin("token.refresh", ["instance": "desk"])
      },
      count: { try $0.vendor.count("POST", "/services/oauth2/token") },
      holds: { _, line in try line.call("token.get", ["instance": "desk"])["tokenType"] == "accessToken" }),
    SentOnce(
      name: "an anonymous user",
      begin: { desk, line in
        try desk.create("desk", on: line)
        try delay("POST /v2/apps/*/appusers", desk)
        return line.begin("session.open", ["instance": "desk"])
      },
      count: { try $0.vendor.count("POST", "/appusers") },
      holds: { desk, line in try desk.state(on: line) == "anonymous" }),
    SentOnce(
      name: "a push registration",
      begin: { desk, line in
        try desk.create("desk", on: line)
        try desk.logIn(on: line)
        try delay("PUT /v2/apps/*/appusers/*/clients/*", desk)
        return line.begin(
          "push.register", ["instance": "desk", "endpoint": ["address": "address-one", "type": "fcm"]])
      },
      count: { desk in
        try desk.vendor.log().count { entry in
          entry["method"] == "PUT" && entry["path"]?.stringValue?.contains("/clients/") == true
        }
      },
      holds: { _, line in try line.call("push.list", ["instance": "desk"])["pushes"]?.arrayValue?.count == 1 }),
    SentOnce(
      name: "the exchange of a JWT that the caller has supplied",
      begin: { desk, line in
        try desk.create(
          "desk", kind: KindSample.chat.kind, on: line, settings: try KindSample.chat.settings(desk.vendor))
        let jwt = try Vendor.mint("alice", ttl: 300, ["--sdk", "chat"])
        try line.call("chat.setIdentity", ["instance": "desk", "jwt": .string(jwt)])
        try delay("POST /authenticated/web/jwt", desk)
        return line.begin("token.get", ["instance": "desk"])
      },
      count: { try $0.vendor.count("POST", "/authenticated/web/jwt") },
      holds: { desk, line in
        try line.call("session.open", ["instance": "desk"])["visible"] == true
          && desk.state(on: line) == "authenticated"
      }),
    SentOnce(
      name: "an authorization whose caller waits",
      begin: { desk, line in
        try desk.create("desk", .edna, user: "alice", on: line)
        try delay("WS /ed/ws CLIENT_INFO", desk)
        return line.begin("chatCenter.authorize", .object(ednaUser.merged(with: ["wait": true])))
      },
      count: { try frames("CLIENT_INFO", $0) },
      holds: { desk, line in try desk.state(on: line) == "authenticated" }),
    SentOnce(
      name: "an accepted authorization",
      begin: { desk, line in
        try desk.create("desk", .edna, user: "alice", on: line)
        try delay("WS /ed/ws CLIENT_INFO", desk)
        return line.begin("chatCenter.authorize", .object(ednaUser))
      },
      count: { try frames("CLIENT_INFO", $0) },
      holds: { desk, line in
        try desk.state(on: line) == "authenticated" && outcomes(desk, line) == ["userLoggedIn"]
      }),
    SentOnce(
      name: "an accepted logout, for longer than ten seconds",
      begin: { desk, line in
        try desk.create("desk", .edna, user: "alice", on: line)
        try desk.signIn("desk", .edna, as: "alice", on: line)
        try delay("WS /ed/ws CLIENT_OFFLINE", milliseconds: 12_000, desk)
        return line.begin("chatCenter.logout", ["instance": "desk"])
      },
      count: { try frames("CLIENT_OFFLINE", $0) },
      holds: { desk, line in
        try desk.state(on: line) == "loggedOut" && outcomes(desk, line).last == "userLoggedOut"
      }),
    SentOnce(
      name: "the logout of a former user",
      begin: { desk, line in
        try desk.create("desk", on: line)
        try desk.logIn(on: line)
        try delay("POST /v2/apps/*/appusers/*/logout", desk)
        return line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
      },
      count: { try $0.vendor.count("POST", "/logout") },
      holds: { desk, line in try desk.user(on: line)["externalId"] == "bob" && pending(line).isEmpty }),
  ]

  @Test("A vendor request that must not be sent twice is waited for", arguments: samples.indices)
  func sentRequest(index: Int) throws {
    let sample = Self.samples[index]
    let desk = try Desk.openForDrain()
    let line = try desk.connect()
    let call = try sample.begin(desk, line)
    try eventually("\(sample.name) is at the vendor") { try sample.count(desk) == 1 }
    try desk.timedStop()
    let answer = try line.answer(call)
    #expect(answer["result"] != nil, "\(sample.name): \(answer)")
    // An authorization is sent again on each new connection.
    let sent = try sample.count(desk)
    #expect(sent == 1, "\(sample.name)")
    try desk.start()
    #expect(try sample.holds(desk, try desk.connect()), "\(sample.name)")
    if !sample.name.contains("authorization") { #expect(try sample.count(desk) == 1, "\(sample.name)") }
  }

  @Test("An accepted logout that waits for a token provider is finished without it")
  func acceptedLogoutThatAsks() throws {
    let desk = try Desk.openForDrain()
    let quiet = try desk.quietStop()
    let line = try desk.connect()
    let settings = try KindSample.edna.settings(desk.vendor).merged(with: Desk.lazy)
    let script = "touch '\(desk.folder.path)/asked'; exec sleep 600"
    let provider = (try desk.provider(script).objectValue ?? [:]).merged(with: ["timeout": "10m"])
    try desk.create("desk", kind: KindSample.edna.kind, on: line, settings: settings, provider: .object(provider))
    let end = Date().addingTimeInterval(Double(Vendor.shortLife))
    let auth: JSON = ["token": .string(Self.jwt(endingAt: end))]
    try line.call("chatCenter.authorize", .object(Self.ednaUser.merged(with: ["auth": auth, "wait": true])))
    try eventually("the JWT has expired") { Date() > end.addingTimeInterval(1) }
    let operation = try line.call("chatCenter.logout", ["instance": "desk"])["operation"]
    try desk.waits(for: "asked")
    let time = try desk.timedStop()
    #expect(time < quiet + Desk.drainAllowance)
    try desk.start()
    let events = try desk.events("desk", on: try desk.connect(), "userLoggedOut", "logoutFailed")
    #expect(events.map { $0["operation"] } == [operation])
  }

  /// Returns a JWT that the vendor accepts like any other token.
  private static func jwt(endingAt end: Date) -> String {
    let parts: [JSON] = [["alg": "HS256"], ["sub": "a", "exp": JSON(Int(end.timeIntervalSince1970))]]
    let texts = parts.map { part in
      Data(JSONWriter.bytes(of: part)).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    return "\(texts[0]).\(texts[1]).c2lnbmF0dXJl"
  }

  @Test("An accepted logout that the vendor does not answer within the grace is reported as failed")
  func acceptedLogoutAfterTheGrace() throws {
    let desk = try Desk.openForDrain(grace: "2s")
    let line = try desk.connect()
    try desk.create("desk", .edna, user: "alice", on: line)
    try desk.signIn("desk", .edna, as: "alice", on: line)
    try desk.vendor.script(["route": "WS /ed/ws CLIENT_OFFLINE", "drop": true])
    let operation = try line.call("chatCenter.logout", ["instance": "desk"])["operation"]
    try eventually("the logout is at the vendor") { try Self.frames("CLIENT_OFFLINE", desk) == 1 }
    try desk.timedStop()
    try desk.start()
    let later = try desk.connect()
    let events = try desk.events("desk", on: later, "userLoggedOut", "logoutFailed")
    #expect(events.map { $0["type"] } == ["logoutFailed"])
    #expect(events.map { $0["operation"] } == [operation])
    #expect(try desk.state(on: later) == "authenticated")
  }

  /// Begins a logout, and on another connection a login that waits for it. Returns the connections and the ids of both calls.
  private func beginQueuedLogin(_ desk: Desk) throws -> (Line, Int, Line, Int) {
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try Self.delay("POST /v2/apps/*/appusers/*/logout", desk)
    let logout = line.begin("messaging.logoutUser", ["instance": "desk"])
    try eventually("the logout is at the vendor") { try desk.vendor.count("POST", "/logout") == 1 }
    let other = try desk.connect()
    let login = other.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    // A later answer on the connection shows that the login was accepted.
    try other.call("daemon.info")
    return (line, logout, other, login)
  }

  @Test("A login that waits for a logout at the vendor is not sent any more")
  func queuedLogin() throws {
    let desk = try Desk.openForDrain()
    let (line, logout, other, login) = try beginQueuedLogin(desk)
    try desk.timedStop()
    #expect(try line.answer(logout)["result"]?["backendInformed"] == true)
    #expect(try other.answer(login)["error"]?["data"]?["reason"] == "shuttingDown")
    #expect(try desk.vendor.count("POST", "/login") == 1)
    #expect(try Self.outcomesOfLogins(desk) == ["ok", "shuttingDown"])
    try desk.start()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }

  @Test("A login that waits for a logout is sent once by the next daemon, and has one record in the audit")
  func queuedLoginIsHandedOver() throws {
    let desk = try Desk.openForDrain()
    let (line, logout, other, login) = try beginQueuedLogin(desk)
    try desk.replace()
    #expect(try line.answer(logout)["result"]?["backendInformed"] == true)
    #expect(try other.answer(login)["result"] != nil)
    #expect(try desk.vendor.count("POST", "/login") == 2)
    try eventually("both logins are in the audit") { try Self.outcomesOfLogins(desk).count > 1 }
    #expect(try Self.outcomesOfLogins(desk) == ["ok", "ok"])
  }

  /// Returns the outcomes of logins in the audit of the first daemon and of those that replaced it.
  private static func outcomesOfLogins(_ desk: Desk) throws -> [String] {
    try desk.audit(["desk", "--file", desk.firstLog]).records
      .filter { $0["record"] == "call" && $0["method"] == "messaging.loginUser" }
      .compactMap { $0["outcome"]?.stringValue }
  }
}
