import Foundation
import JSONRPC
import Testing

/// A vendor that repeats a request's credentials in its error puts them nowhere: not into events, errors, the
/// description of the instance, or the log.
@Suite struct VendorEchoTests {
  /// A request with credentials, and the ways in which the vendor refuses it.
  struct Request: Sendable, CustomTestStringConvertible {
    let kind: KindSample
    /// The route that is refused.
    let route: String
    /// The credentials in the request, besides the JWTs in the params of the sign-in.
    var credentials: [String] = []
    /// Whether the route is reached by a refresh after the sign-in, and not by the sign-in.
    var isRefresh = false
    /// Whether an app's report of the token leads to the request.
    var isReported = false
    /// Whether only a 401 has words that anybody gets: other refusals are no failures.
    var isQuiet = false
    var more: JSONObject = [:]

    var testDescription: String { "\(kind.kind) \(route)" }
  }

  private static let uniqueId = "alice:x/+y=unique id of alice"
  private static let clientSecret = "TOP/SECRET+of-the-app"
  private static let signature = "signature/of+alice=1234"

  static var requests: [Request] {
    let edna: JSONObject = ["auth": ["token": "edna/token+of=alice", "signature": .string(signature)]]
    let own = [
      Request(kind: .messaging, route: "POST /v2/apps/*/login"),
      Request(
        kind: .messaging, route: "GET /v2/apps/*/appusers/*", isRefresh: true, isReported: true, isQuiet: true),
      Request(kind: .support, route: "POST /access/sdk/jwt", credentials: [uniqueId]),
      Request(kind: .support, route: "POST /access/sdk/jwt", credentials: [uniqueId], isRefresh: true),
      Request(
        kind: .salesforce, route: "POST /services/oauth2/token", credentials: [clientSecret], isRefresh: true,
        more: ["client_secret": .string(clientSecret)]),
      // Its JWT is made by the test, because it lives for minutes only.
      Request(kind: .chat, route: "POST /authenticated/web/jwt"),
      Request(
        kind: .edna, route: "GET /api/chat/config", credentials: ["edna/token+of=alice", signature, "user-alice-7f3a"],
        more: edna),
      Request(
        kind: .edna, route: "GET /api/client/history", credentials: ["edna/token+of=alice", signature], isQuiet: true,
        more: edna),
    ]
    // The other kinds sign in with a JWT, and the vendor refuses that.
    let others = KindSample.all.filter { sample in !own.contains { $0.kind.kind == sample.kind } }
    return own + others.map { Request(kind: $0, route: $0.exchange ?? "") }
  }

  /// Returns the JWTs in the params of a sign-in.
  private static func jwts(in params: JSONObject) -> [String] {
    params.members.compactMap { $0.value.stringValue }.filter { $0.hasPrefix("eyJ") }
  }

  /// Returns the forms in which a vendor may repeat a secret.
  static func forms(_ secret: String) -> [String] {
    let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    return [
      secret, secret.addingPercentEncoding(withAllowedCharacters: allowed) ?? "",
      Data(secret.utf8).base64EncodedString(),
    ]
  }

  @Test("A repeated credential reaches no event, error or log", arguments: requests, [401, 403, 400, 500])
  func echo(request: Request, status: Int) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try line.call("daemon.setLogLevel", ["level": "trace"])
    var settings = try request.kind.settings(desk.vendor).merged(with: ["refresh": ["min_interval": 0]])
    if request.kind.kind == KindSample.salesforce.kind { settings = settings.merged(with: request.more) }
    if request.kind.kind == KindSample.chat.kind { settings["fallback"] = "fail" }
    try desk.create("desk", kind: request.kind.kind, on: line, settings: settings)
    var credentials = request.credentials
    let words = { (credentials: [String]) in credentials.flatMap(Self.forms).joined(separator: " or ") }
    let script = { (credentials: [String]) throws in
      try desk.vendor.script(
        [
          "route": .string(request.route), "status": JSON(status), "times": "forever",
          // The body also has a harmless word.
          "body": request.kind.refusal("moonlight \(words(credentials))"),
        ])
    }
    var (method, params) = try request.kind.signIn(desk.vendor, "desk", "alice")
    switch request.kind.kind {
    case KindSample.support.kind: params["identity"] = ["type": "jwt", "token": .string(Self.uniqueId)]
    case KindSample.chat.kind:
      let jwt = try Vendor.output(
        "sdk-sandbox", ["mint", "--sdk", "chat", "--external-id", "alice", "--name", "A", "--email", "a@b.c"])
      params["jwt"] = .string(jwt)
    case KindSample.edna.kind: params = params.merged(with: request.more)
    case KindSample.salesforce.kind:
      for name in ["access_token", "refresh_token"] {
        if let token = params["settings"]?["account"]?[name]?.stringValue { credentials.append(token) }
      }
    default: break
    }
    credentials += Self.jwts(in: params)
    try #require(
      !credentials.isEmpty && !request.route.isEmpty,
      "\(request.kind.kind) has no route for a JWT: add its requests with their credentials here")
    if !request.isRefresh { try script(credentials) }
    var said = JSONWriter.text(of: try line.answer(line.begin(method, .object(params))))
    if request.isRefresh { try script(credentials) }
    let token = try line.answer(line.begin("token.get", ["instance": "desk"]))["result"]?["tokenId"]
    if request.isReported, let token {
      _ = try line.answer(line.begin("token.reject", ["instance": "desk", "tokenId": token, "status": 401]))
    }
    said += JSONWriter.text(of: try line.answer(line.begin("token.refresh", ["instance": "desk"])))
    said += JSONWriter.text(of: .array(try desk.events("desk", on: line)))
    said += JSONWriter.text(of: try line.call("instance.get", ["instance": "desk"])) + desk.logs
    if !request.isQuiet || status == 401 {
      #expect(said.contains("moonlight"), "the vendor's other words arrive: \(said.prefix(2000))")
    }
    for secret in credentials {
      for form in Self.forms(secret) {
        #expect(!said.contains(form), "\(form)")
        #expect(!said.contains(form.prefix(20)), "a part of \(form)")
        #expect(!said.contains(form.replacing("/", with: "\\/")), "\(form)")
      }
    }
  }

  @Test(
    "A credential of an earlier sign-in that the vendor repeats reaches no event, error or log",
    // Chat sends nothing at a sign-in.
    arguments: KindSample.all.filter { $0.kind != KindSample.chat.kind })
  func former(kind: KindSample) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try line.call("daemon.setLogLevel", ["level": "trace"])
    let settings = try kind.settings(desk.vendor).merged(with: ["refresh": ["min_interval": 0]])
    try desk.create("desk", kind: kind.kind, on: line, settings: settings)
    var (credentials, calls): ([String], [(method: String, params: JSON)]) = ([], [])
    var route: JSON = ""
    for number in 1...2 {
      var (method, params) = try kind.signIn(desk.vendor, "desk", "alice", ttl: 3600 - 600 * number)
      switch kind.kind {
      case KindSample.support.kind:
        route = "POST /access/sdk/jwt"
        credentials.append(number == 1 ? "the/former+unique=id" : "another one: x=y")
        params["identity"] = ["type": "jwt", "token": .string(credentials[number - 1])]
      case KindSample.salesforce.kind:
        // Without `id` the vendor is asked whose the second tokens are.
        route = ServiceDesk.userInfo
        var account = try #require(params["settings"]?["account"]?.objectValue)
        credentials.append(account["access_token"]?.stringValue ?? "")
        account["id"] = nil
        account["refresh_token"] = nil
        params["settings"] = ["account": .object(account)]
      case KindSample.edna.kind:
        route = "GET /api/chat/config"
        credentials.append(number == 1 ? "the/former+token=of" : "another-one,x=y")
        params["auth"] = ["token": .string(credentials[number - 1])]
        params["wait"] = true
      default:
        route = .string(kind.exchange ?? "")
        credentials.append(
          try #require(Self.jwts(in: params).first, "\(kind.kind) signs in without a JWT: say what it sends here"))
      }
      calls.append((method, .object(params)))
    }
    try line.call(calls[0].method, calls[0].params)
    let words = Self.forms(credentials[0]).joined(separator: " or ")
    try desk.vendor.script(
      ["route": route, "status": 401, "times": "forever", "body": kind.refusal("moonlight \(words)")])
    var said = JSONWriter.text(of: try line.answer(line.begin(calls[1].method, calls[1].params)))
    said += JSONWriter.text(of: .array(try desk.events("desk", on: line)))
    said += JSONWriter.text(of: try line.call("instance.get", ["instance": "desk"])) + desk.logs
    #expect(said.contains("moonlight"), "the vendor's other words arrive: \(said.prefix(2000))")
    for form in Self.forms(credentials[0]) { #expect(!said.contains(form.prefix(16)), "a part of \(form)") }
  }

  @Test("What an app reports is masked like what a vendor says")
  func report() throws {
    let desk = try BridgeDesk()
    let id = try desk.line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
    try desk.desk.vendor.revoke("alice")
    let words: JSON = .string("moonlight \(desk.first) and password=hunter!2")
    try desk.line.call(
      "token.reject",
      ["instance": "desk", "tokenId": id, "status": 401, "code": words, "description": words])
    try eventually("the failure is an event") {
      try !desk.desk.events("desk", on: desk.line, "authenticationFailed").isEmpty
    }
    let said =
      JSONWriter.text(of: .array(try desk.desk.events("desk", on: desk.line)))
      + JSONWriter.text(of: try desk.line.call("instance.get", ["instance": "desk"])) + desk.desk.logs
    #expect(!said.contains(desk.first) && !said.contains("hunter"))
  }
}
