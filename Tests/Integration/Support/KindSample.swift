import Foundation
import JSONRPC
import Testing

/// A kind of instance at the sandbox, with the settings and calls that tests across kinds need.
struct KindSample: Sendable, CustomTestStringConvertible {
  let kind: String
  /// The sandbox's name for the kind's backend.
  let sdk: String
  /// The settings at the sandbox.
  let settings: @Sendable (Vendor) throws -> JSONObject
  /// The shell script of the provider for a user; `nil` where the SDK needs none.
  let provider: @Sendable (_ user: String) -> String?
  /// The call that begins to sign a user in.
  let signIn: @Sendable (Vendor, _ instance: String, _ user: String) throws -> (method: String, params: JSONObject)
  /// The call that signs the user out.
  let signOut: @Sendable (_ instance: String) -> (method: String, params: JSONObject)
  /// The vendor's route that accepts a user; `nil` for a sign-in without a request.
  let exchange: String?
  /// The call that hides the user until they sign in again; `nil` where only a refusal does.
  var lock: (@Sendable (_ instance: String) -> (method: String, params: JSONObject))?
  /// Whether another user may sign in before the present one has signed out.
  var replacesUsers = true
  /// The script that keeps the vendor from answering a push registration; `nil` for a kind without push.
  var unansweredPush: JSON?

  var testDescription: String { kind }

  static let sandbox = Program.path("sdk-sandbox")

  /// All five kinds.
  static let all: [KindSample] = [messaging, support, salesforce, chat, edna]

  static let messaging = KindSample(
    kind: "zendesk.messaging", sdk: "zm",
    settings: { ["base_url": .string(try $0.base("zm")), "app_id": .string(Desk.app)] },
    provider: { "exec '\(sandbox)' mint --external-id \($0)" },
    signIn: { _, instance, user in
      ("messaging.loginUser", ["instance": .string(instance), "jwt": .string(try Vendor.mint(user))])
    },
    signOut: { ("messaging.logoutUser", ["instance": .string($0)]) }, exchange: "POST /v2/apps/*/login",
    unansweredPush: ["route": "PUT /v2/apps/*/appusers/*/clients/*", "hang": true])

  static let support = KindSample(
    kind: "zendesk.support", sdk: "zs",
    settings: {
      [
        "base_url": .string(try $0.base("zs")), "app_id": "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79bd",
        "client_id": "mobile_sdk_client_sandbox_jwt",
      ]
    },
    provider: { "echo '{\"uniqueId\": \"\($0):'$$'\"}'" },
    signIn: { _, instance, user in
      (
        "support.setIdentity",
        ["instance": .string(instance), "identity": ["type": "jwt", "token": .string("\(user):first")]]
      )
    },
    signOut: { ("support.clearIdentity", ["instance": .string($0)]) }, exchange: "POST /access/sdk/jwt",
    unansweredPush: ["route": "POST /api/mobile/push_notification_devices.json", "hang": true])

  static let salesforce = KindSample(
    kind: "salesforce.chat", sdk: "sf",
    settings: {
      [
        "client_id": "3MVG9sandbox.demo", "login_url": .string(try $0.base("sf")), "services": ["cases"],
      ]
    },
    provider: { _ in nil },
    signIn: { vendor, instance, user in
      let grant = try vendor.request("POST", "/_grant", ["user": .string(user)])
      var account = JSONObject()
      for name in ["access_token", "refresh_token", "instance_url", "id"] { account[name] = grant[name] }
      return (
        "serviceChat.setAuthenticationSettings",
        ["instance": .string(instance), "service": "cases", "settings": ["account": .object(account)]]
      )
    },
    signOut: {
      ("serviceChat.setAuthenticationSettings", ["instance": .string($0), "service": "cases", "settings": .null])
    }, exchange: nil, unansweredPush: ["route": "POST /services/data/**", "hang": true])

  static let chat = KindSample(
    kind: "zendesk.chat", sdk: "zc",
    settings: {
      ["account_key": "sandboxChatAccountKey000000000001", "id_url": .string(try $0.base("zc"))]
    },
    provider: { "exec '\(sandbox)' mint --sdk chat --external-id \($0)" },
    signIn: { _, instance, _ in ("chat.setIdentity", ["instance": .string(instance)]) },
    signOut: { ("chat.resetIdentity", ["instance": .string($0)]) }, exchange: "POST /authenticated/web/jwt",
    replacesUsers: false)

  static let edna = KindSample(
    kind: "edna.chatcenter", sdk: "ed",
    settings: {
      [
        "rest_url": .string(try $0.base("ed")), "ws_url": .string(try $0.base("ed", socket: true) + "/ws"),
        "provider_uid": "demo_provider",
      ]
    },
    provider: { _ in "echo '{\"token\": \"edna-token-'$$'\"}'" },
    signIn: { _, instance, user in
      (
        "chatCenter.authorize",
        [
          "instance": .string(instance), "user": ["identifier": .string("user-\(user)-7f3a")],
          "auth": ["token": .string("edna-token-of-\(user)")], "wait": true,
        ]
      )
    },
    signOut: { ("chatCenter.logout", ["instance": .string($0), "wait": true]) }, exchange: "GET /api/chat/config",
    lock: { ("chatCenter.deauthorizeUser", ["instance": .string($0)]) },
    unansweredPush: ["route": "WS /ed/ws updateDevice", "drop": true])
}

extension Desk {
  /// Creates an instance of a sample's kind. Its provider, if any, appends a line to the file `runs-ID` at each run.
  @discardableResult
  func create(_ id: String, _ sample: KindSample, user: String, on line: Line, settings: JSONObject = [:]) throws
    -> JSON
  {
    let script = sample.provider(user).map { "echo run >> '\(folder.path)/runs-\(id)'; \($0)" }
    return try create(
      id, kind: sample.kind, on: line, settings: try sample.settings(vendor).merged(with: settings),
      provider: try script.map { try provider($0, name: "provider-\(id)") })
  }

  /// Signs a user in and returns the result of `token.get`.
  @discardableResult
  func signIn(_ id: String, _ sample: KindSample, as user: String, on line: Line) throws -> JSON {
    let (method, params) = try sample.signIn(vendor, id, user)
    try line.call(method, .object(params))
    return try line.call("token.get", ["instance": .string(id)])
  }

  /// Returns the number of runs of an instance's provider.
  func runs(_ id: String) -> Int {
    let text = try? String(contentsOf: folder.appendingPathComponent("runs-\(id)"), encoding: .utf8)
    return text?.split(separator: "\n").count ?? 0
  }

  /// Returns the events of an instance: those of the given types, or all without types.
  func events(_ id: String, on line: Line, _ types: String...) throws -> [JSON] {
    let all = try line.call("events.list", ["instances": [.string(id)], "limit": 500])["events"]?.arrayValue ?? []
    return types.isEmpty ? all : all.filter { types.contains($0["type"]?.stringValue ?? "") }
  }

  /// Returns the state of an instance.
  func state(of id: String, on line: Line) throws -> String? {
    try line.call("instance.get", ["instance": .string(id)])["state"]?.stringValue
  }
}

extension Vendor {
  /// Makes the vendor respond with 503 from now on, on every route and to every upgrade.
  func goDown() throws { try script(["route": "/**", "status": 503, "times": "forever"]) }
}
