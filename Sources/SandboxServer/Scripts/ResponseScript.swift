import Foundation
import JSONRPC

/// A script for the responses of a route, posted to `/_control`.
struct ResponseScript: Sendable {
  let route: RoutePattern
  /// The number of requests that the script still applies to; `nil` for no limit.
  var remaining: Int?
  let status: Int
  /// The body; `nil` if none was given. An error status without a body gets the vendor's own error response.
  let body: Data?
  let headers: [String: [String]]
  let contentType: String?
  /// The delay of the response, in milliseconds.
  let delay: Int
  /// Whether to cut the connection in the middle of the body.
  let closeMidBody: Bool
  /// Whether to send no response. The connection is cut when the scripts are cleared.
  let hang: Bool
  /// Whether the backend handles the request. The script can then only delay, hang, cut or add headers.
  let passThrough: Bool

  static let known = [
    "route", "method", "times", "status", "body", "headers", "contentType", "delayMs", "closeMidBody", "hang",
    "passThrough",
  ]

  init(_ tree: JSON) throws(ControlMistake) {
    let members = try ControlMembers(tree, known: Self.known)
    let path = try members.requiredText("route")
    if let method = try members.text("method") {
      if path.contains(" ") { throw ControlMistake("method", "is in route already") }
      route = try RoutePattern("\(method) \(path)")
    } else {
      route = try RoutePattern(path)
    }
    remaining = try Self.times(members)
    passThrough = try members.flag("passThrough")
    if passThrough, let spare = ["status", "body", "contentType"].first(where: members.has) {
      throw ControlMistake(spare, "can't be given with passThrough, which sends the real response")
    }
    status = try members.integer("status", in: 200...599) ?? 200
    body = Self.body(members)
    headers = try Self.headers(members)
    contentType = try Self.checked("contentType", members.text("contentType"))
    delay = try members.integer("delayMs", in: 0...SandboxLimits.delay) ?? 0
    closeMidBody = try members.flag("closeMidBody")
    hang = try members.flag("hang")
    if hang, closeMidBody { throw ControlMistake("hang", "can't be given with closeMidBody") }
  }

  /// Returns the member `times`: 1 when absent, `nil` for `"forever"`.
  static func times(_ members: ControlMembers) throws(ControlMistake) -> Int? {
    switch members.value("times") {
    case nil: return 1
    case .string("forever")?: return nil
    case .number?:
      if let times = try? members.integer("times", in: 1...1_000_000) { return times }
      fallthrough
    default: throw ControlMistake("times", "must be a whole number from 1 to 1000000 or \"forever\"")
    }
  }

  /// Returns the body: a string as it is, anything else as JSON, null as an empty body.
  private static func body(_ members: ControlMembers) -> Data? {
    switch members.members["body"] {
    case nil: nil
    case .null?: Data()
    case .string(let text)?: Data(text.utf8)
    case let tree?: tree.encoded
    }
  }

  private static func headers(_ members: ControlMembers) throws(ControlMistake) -> [String: [String]] {
    guard let value = members.value("headers") else { return [:] }
    guard let headers = value.members else { throw ControlMistake("headers", "must be an object of strings") }
    var result: [String: [String]] = [:]
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      let isToken = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
      guard isToken else { throw ControlMistake("headers", "\(name) can't be a header's name") }
      let values: [JSON] = if case .array(let values) = value { values } else { [value] }
      result[name] = []
      for value in values {
        guard let text = try checked("headers", value.stringValue) else {
          throw ControlMistake("headers", "\(name) must be a string or an array of strings")
        }
        result[name]?.append(text)
      }
    }
    return result
  }

  private static func checked(_ member: String, _ text: String?) throws(ControlMistake) -> String? {
    if let text, text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7f }) {
      throw ControlMistake(member, "must not contain control characters")
    }
    return text
  }
}

extension ResponseScript {
  /// Returns the scripted response. `standard` returns the vendor's error response for a status, which is used without
  /// a scripted body.
  func response(standard: (Int) -> SandboxResponse) -> SandboxResponse {
    var response =
      if let body { SandboxResponse(status, headers: Self.headers(of: body), body: body) } else if status >= 400 {
        standard(status)
      } else { SandboxResponse(status) }
    if let contentType { response.set("Content-Type", to: [contentType]) }
    response.note = "scripted"
    return response
  }

  private static func headers(of body: Data) -> [String: [String]] {
    body.isEmpty ? [:] : ["Content-Type": ["application/json"]]
  }

  /// The script as `GET /_control` lists it.
  var tree: JSON {
    .of([
      "route": .string(route.text),
      "times": remaining.map { .number(Double($0)) } ?? "forever",
      "status": passThrough ? nil : .number(Double(status)),
      "body": body.map { .string(String(decoding: $0, as: UTF8.self)) },
      "headers": headers.isEmpty ? nil : .object(headers.mapValues { .array($0.map { .string($0) }) }),
      "contentType": .optional(contentType),
      "delayMs": delay == 0 ? nil : .number(Double(delay)),
      "closeMidBody": closeMidBody ? true : nil,
      "hang": hang ? true : nil,
      "passThrough": passThrough ? true : nil,
    ])
  }
}
