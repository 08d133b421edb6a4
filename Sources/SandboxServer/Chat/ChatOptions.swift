/// The options of the Chat backend (`POST /_options`), for behaviour that a scripted response can't produce.
struct ChatOptions: Sendable {
  /// The `expires_in` of new id tokens, in seconds.
  var expiresIn = 3_600
  /// The HTTP status of a refused exchange. The vendor's clients ignore it.
  var failureStatus = 400
  /// The longest `external_id`, in characters. Other pages of the vendor document 255.
  var externalIDMax = 200

  static let names = ["expiresIn", "externalIdMax", "failureStatus"]

  mutating func set(_ members: ControlMembers) throws(ControlMistake) {
    var new = self
    let standard = ChatOptions()
    if members.has("expiresIn") {
      new.expiresIn = try members.integer("expiresIn", in: 0...1_000_000_000) ?? standard.expiresIn
    }
    if members.has("failureStatus") {
      new.failureStatus = try members.integer("failureStatus", in: 200...599) ?? standard.failureStatus
    }
    if members.has("externalIdMax") {
      new.externalIDMax = try members.integer("externalIdMax", in: 1...10_000) ?? standard.externalIDMax
    }
    self = new
  }

  var tree: JSONTree {
    [
      "expiresIn": .number(Double(expiresIn)), "failureStatus": .number(Double(failureStatus)),
      "externalIdMax": .number(Double(externalIDMax)),
    ]
  }
}
