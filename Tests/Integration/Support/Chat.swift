import Foundation
import JSONRPC

/// A Chat instance named `desk` at the sandbox.
struct Chat {
  static let account = "sandboxChatAccountKey000000000001"
  static let forged = "not-the-secret-of-this-account-000000000"

  let desk: Desk
  let line: Line

  init(settings: JSONObject = [:], mediator: Bool = false, provider: ((Desk) throws -> JSON)? = nil) throws {
    desk = try Desk.open()
    line = try desk.connect()
    var base: JSONObject = ["account_key": .string(Self.account), "id_url": .string(try desk.vendor.base("zc"))]
    if mediator { base["mediator_url"] = .string(try desk.vendor.base("zc", socket: true) + "/mediator") }
    try desk.create(
      "desk", kind: "zendesk.chat", on: line, settings: base.merged(with: settings), provider: try provider?(desk))
  }

  /// Wraps the instance of a desk that the test has started itself.
  init(_ desk: Desk, _ line: Line) {
    self.desk = desk
    self.line = line
  }

  /// Kills the daemon and starts it again. Returns the same instance on a new connection.
  func crashed() throws -> Chat {
    try desk.crash()
    return Chat(desk, try desk.connect())
  }

  /// Returns a visitor's JWT.
  static func mint(_ user: String = "alice", ttl: Int? = 300, _ more: [String] = []) throws -> String {
    try Vendor.mint(user, ttl: ttl, ["--sdk", "chat"] + more)
  }

  /// Creates a provider that mints a visitor's JWT and notes each question.
  static func minting(_ desk: Desk, _ user: String = "alice", _ more: String = "") throws -> JSON {
    try desk.provider(
      "cat >> \(desk.folder.path)/asked; echo >> \(desk.folder.path)/asked; exec '\(Program.path("sdk-sandbox"))' mint --sdk chat --external-id \(user) \(more)"
    )
  }

  /// Returns the questions to the provider, oldest first.
  func asked() -> [JSON] {
    let text = (try? String(contentsOf: desk.folder.appendingPathComponent("asked"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { try? JSONParser.parse(Array($0.utf8)) }
  }

  func setIdentity(_ jwt: String? = nil) throws {
    var params: JSONObject = ["instance": "desk"]
    params["jwt"] = jwt.map(JSON.string)
    try line.call("chat.setIdentity", .object(params))
  }

  func open() throws -> JSON { try line.call("session.open", ["instance": "desk"]) }
  func token() throws -> JSON { try line.call("token.get", ["instance": "desk"]) }
  func instance() throws -> JSON { try line.call("instance.get", ["instance": "desk"]) }

  /// Returns the events of these types, or all, oldest first.
  func events(_ types: String...) throws -> [JSON] {
    let all = try line.call("events.list", ["limit": 500])["events"]?.arrayValue ?? []
    return types.isEmpty ? all : all.filter { types.contains($0["type"]?.stringValue ?? "") }
  }

  func types(_ types: String...) throws -> [String] {
    try events().compactMap { $0["type"]?.stringValue }.filter { types.isEmpty || types.contains($0) }
  }

  /// Returns the forms of the exchanges so far, oldest first.
  func exchanges() throws -> [[String: String]] {
    try desk.vendor.log().filter { $0["method"] == "POST" }.map { entry in
      var form: [String: String] = [:]
      for pair in (entry["body"]?.stringValue ?? "").split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        form[String(parts[0])] = parts.count > 1 ? String(parts[1]).removingPercentEncoding : ""
      }
      return form
    }
  }

  /// Returns the register frames so far, oldest first.
  func frames() throws -> [JSON] {
    try desk.vendor.log().filter { $0["method"] == "WS" }.map {
      try JSONParser.parse(Array(($0["body"]?.stringValue ?? "").utf8))
    }
  }

  /// Scripts the next exchanges.
  func script(_ script: JSONObject) throws {
    try desk.vendor.script(.object((["route": "POST /authenticated/web/jwt"] as JSONObject).merged(with: script)))
  }

  func options(_ options: JSONObject) throws {
    try desk.vendor.request("POST", "/_options", .object((["sdk": "zc"] as JSONObject).merged(with: options)))
  }

  /// Waits until the id token has expired by the clock.
  func waitForTheEnd() throws {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let text = try instance()["expiresAt"]?.stringValue ?? ""
    guard let end = formatter.date(from: text) else { throw Program.Failure(description: "no expiresAt: \(text)") }
    try eventually("the id token has ended") { Date() > end }
  }
}
