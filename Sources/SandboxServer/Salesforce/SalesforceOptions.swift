import JSONRPC

/// The options of the Salesforce backend (`POST /_options`), for behaviour that a scripted response can't produce.
struct SalesforceOptions: Sendable {
  /// Whether refresh tokens rotate; `nil` to follow the grant.
  var rotating: Bool?
  /// The lifetime of access tokens in seconds; `nil` to follow the grant.
  var ttl: Double?
  /// The instance of new tokens, whose `instance_url` ends in `/instances/NAME`.
  ///
  /// Only that instance serves data for them, as after an organisation has moved.
  var instance: String?
  /// The members that replace those of refresh responses. `null` removes a member.
  var answer: [String: JSON] = [:]

  static let names = ["answer", "instance", "rotating", "ttl"]
  static let lifetimes = -1e6...1e9

  mutating func set(_ members: ControlMembers) throws(ControlMistake) {
    var new = self
    if members.has("rotating") { new.rotating = try members.optionalFlag("rotating") }
    if members.has("ttl") { new.ttl = try members.number("ttl", in: Self.lifetimes) }
    if members.has("instance") {
      new.instance = try members.text("instance")
      let fits = new.instance?.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: "-")
        }
      }
      guard fits != false else { throw ControlMistake("instance", "must be small letters, digits and hyphens") }
    }
    if members.has("answer") {
      let value = members.value("answer")
      guard let answer = value == nil ? [:] : value?.members else {
        throw ControlMistake("answer", "must be an object")
      }
      new.answer = answer
    }
    self = new
  }

  var tree: JSON {
    [
      "rotating": rotating.map { .bool($0) } ?? .null,
      "ttl": ttl.map { .number($0) } ?? .null,
      "instance": .optional(instance) ?? .null,
      "answer": .object(answer),
    ]
  }
}
