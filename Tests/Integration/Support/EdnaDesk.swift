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

  /// Ends the daemon without warning and starts it again.
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

  /// Authorises and waits for the outcome.
  @discardableResult
  func authorize(_ identifier: String, auth: JSON? = nil, user: JSONObject = [:]) throws -> JSON {
    var params = Self.user(identifier, user)
    params["auth"] = auth
    params["wait"] = true
    return try call("authorize", params)
  }

  /// Authorises and does not wait; gives the operation.
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

  /// The event that ends an operation.
  func outcome(of operation: String) throws -> JSON {
    var found: JSON?
    try eventually("the operation has ended") {
      found = try events().first { $0["operation"]?.stringValue == operation }
      return found != nil
    }
    return found ?? .null
  }

  // MARK: At the vendor

  /// What arrived: paths of requests, names of frames.
  func arrivals() throws -> [String] {
    try vendor.log().map { entry in
      guard entry["method"] == "WS" else {
        return entry["path"]?.stringValue?.split(separator: "/").suffix(2).joined(separator: "/") ?? "?"
      }
      let frame = (entry["body"]?.stringValue).flatMap { try? JSONParser.parse(Array($0.utf8)) }
      return frame?["data"]?["content"]?["type"]?.stringValue ?? frame?["action"]?.stringValue ?? "?"
    }
  }

  /// The frames of a name, oldest first.
  func frames(_ name: String) throws -> [JSON] {
    try vendor.log().compactMap { entry in
      guard entry["method"] == "WS", let body = entry["body"]?.stringValue else { return nil }
      let frame = try JSONParser.parse(Array(body.utf8))
      let type = frame["data"]?["content"]?["type"]?.stringValue ?? frame["action"]?.stringValue
      return type == name ? frame["data"] : nil
    }
  }

  /// The requests whose path ends so.
  func requests(_ suffix: String) throws -> [JSON] {
    try vendor.log().filter { $0["method"] == "GET" && ($0["path"]?.stringValue ?? "").hasSuffix(suffix) }
  }

  var vendorState: JSON { get throws { try vendor.request("GET", "/_state")["ed"] ?? .null } }

  func vendorUser(_ identifier: String) throws -> JSON? {
    try vendorState["users"]?.arrayValue?.first { $0["clientId"]?.stringValue == identifier }
  }

  /// Every `CLIENT_OFFLINE` that counted.
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
