/// How the Chat backend can be told to behave where a canned response can't: `POST /_options`.
struct ChatOptions: Sendable {
  /// `expires_in` of the next id tokens, in seconds.
  var expiresIn = 3_600
  /// The HTTP status of a refused exchange; the vendor's clients don't look at it.
  var failureStatus = 400
  /// The longest `external_id`, in characters; other pages of the vendor say 255 (`vendors.md` 4.2).
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
