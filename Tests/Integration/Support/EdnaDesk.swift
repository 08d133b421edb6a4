import Foundation
import JSONRPC

/// A desk with one Chat Center instance, `desk`, at the sandbox.
final class EdnaDesk {
  let desk: Desk
  private(set) var line: Line

  init(settings: JSONObject = [:], provider: ((Desk) throws -> JSON)? = nil) throws {
    desk = try Desk.open()
    line = try desk.connect()
    let base: JSONObject = [
      "rest_url": .string(try desk.vendor.base("ed")), "provider_uid": "demo_provider",
      "ws_url": .string(try desk.vendor.base("ed", socket: true) + "/ws"),
    ]
    try desk.create(
      "desk", kind: "edna.chatcenter", on: line, settings: base.merged(with: settings),
      provider: try provider.map { try $0(desk) })
  }

  var vendor: Vendor { desk.vendor }

  /// Kills the daemon, starts it again and connects to it.
  func crash() throws {
    try desk.crash()
    line = try desk.connect()
  }

  // MARK: Calls

  func params(_ more: JSONObject = [:]) -> JSON {
    var params: JSONObject = ["instance": "desk"]
    for member in more.members { params[member.key] = member.value }
    return .object(params)
  }

  @discardableResult
  func call(_ method: String, _ more: JSONObject = [:]) throws -> JSON {
    try line.call(method.contains(".") ? method : "chatCenter.\(method)", params(more))
  }

  func failure(_ method: String, _ more: JSONObject = [:]) throws -> RPCError {
    try line.failure(method.contains(".") ? method : "chatCenter.\(method)", params(more))
  }

  static func user(_ identifier: String, _ more: JSONObject = [:]) -> JSONObject {
    ["user": .object((["identifier": .string(identifier)] as JSONObject).merged(with: more))]
  }

  /// Authorizes a user and waits for the outcome.
  @discardableResult
  func authorize(_ identifier: String, auth: JSON? = nil, user: JSONObject = [:]) throws -> JSON {
    var params = Self.user(identifier, user)
    params["auth"] = auth
    params["wait"] = true
    return try call("authorize", params)
  }

  /// Authorizes a user without waiting. Returns the id of the operation.
  func begin(_ identifier: String, auth: JSON? = nil, user: JSONObject = [:]) throws -> String {
    var params = Self.user(identifier, user)
    params["auth"] = auth
    let answer = try call("authorize", params)
    guard answer["accepted"] == true, let operation = answer["operation"]?.stringValue else {
      throw Program.Failure(description: "not accepted: \(JSONWriter.text(of: answer))")
    }
    return operation
  }

  var state: String? { get throws { try call("instance.get")["state"]?.stringValue } }

  var externalId: String? { get throws { try call("instance.currentUser")["externalId"]?.stringValue } }

  func waitFor(state wanted: String) throws {
    try eventually("the state is \(wanted)") { try state == wanted }
  }

  // MARK: Events

  func events() throws -> [JSON] { try line.call("events.list", ["limit": 500])["events"]?.arrayValue ?? [] }

  func events(_ type: String) throws -> [JSON] { try events().filter { $0["type"]?.stringValue == type } }

  /// Waits for the event that ends an operation, and returns it.
  func outcome(of operation: String) throws -> JSON {
    var found: JSON?
    try eventually("the operation has ended") {
      found = try events().first { $0["operation"]?.stringValue == operation }
      return found != nil
    }
    return found ?? .null
  }

  // MARK: At the vendor

  /// Returns the arrivals in order: the end of the path for a request, the name for a frame.
  func arrivals() throws -> [String] {
    try vendor.log().map { entry in
      guard entry["method"] == "WS" else {
        return entry["path"]?.stringValue?.split(separator: "/").suffix(2).joined(separator: "/") ?? "?"
      }
      let frame = (entry["body"]?.stringValue).flatMap { try? JSONParser.parse(Array($0.utf8)) }
      return frame?["data"]?["content"]?["type"]?.stringValue ?? frame?["action"]?.stringValue ?? "?"
    }
  }

  /// Returns the data of the frames with a name, oldest first.
  func frames(_ name: String) throws -> [JSON] {
    try vendor.log().compactMap { entry in
      guard entry["method"] == "WS", let body = entry["body"]?.stringValue else { return nil }
      let frame = try JSONParser.parse(Array(body.utf8))
      let type = frame["data"]?["content"]?["type"]?.stringValue ?? frame["action"]?.stringValue
      return type == name ? frame["data"] : nil
    }
  }

  /// Returns the GET requests whose path ends with `suffix`.
  func requests(_ suffix: String) throws -> [JSON] {
    try vendor.log().filter { $0["method"] == "GET" && ($0["path"]?.stringValue ?? "").hasSuffix(suffix) }
  }

  var vendorState: JSON { get throws { try vendor.request("GET", "/_state")["ed"] ?? .null } }

  func vendorUser(_ identifier: String) throws -> JSON? {
    try vendorState["users"]?.arrayValue?.first { $0["clientId"]?.stringValue == identifier }
  }

  /// The identifiers of the users whose `CLIENT_OFFLINE` the vendor has accepted.
  var offline: [String] {
    get throws { try vendorState["offline"]?.arrayValue?.compactMap { $0["clientId"]?.stringValue } ?? [] }
  }

  func waitUntilOnline(_ identifier: String) throws {
    try eventually("\(identifier) is online") { try vendorUser(identifier)?["online"] == true }
  }

  func token(_ token: String, of identifier: String? = nil, expiresIn: Double? = nil) throws {
    var body: JSONObject = ["token": .string(token)]
    body["clientId"] = identifier.map(JSON.string)
    body["expiresIn"] = expiresIn.map { JSON($0) }
    try vendor.request("POST", "/_tokens", .object(body))
  }

  func script(_ route: String, _ more: JSONObject) throws {
    try vendor.script(.object((["route": .string(route)] as JSONObject).merged(with: more)))
  }
}
