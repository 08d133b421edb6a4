/// How the Support backend can be told to misbehave where a canned response can't: `POST /_options`.
struct SupportOptions: Sendable {
  /// What every app's settings say, instead of each app's own.
  var authentication: Authentication?
  var customer = CustomerEndpoint.Mode.up
  /// Unique ids that the customer's endpoint no longer takes, as after the end of an access token.
  var refusedIDs: [String] = []
  var userID = UserIDForm.number

  enum Authentication: String, CaseIterable, Sendable { case jwt, anonymous }

  /// What becomes of `user_id` in the answer to an exchange.
  enum UserIDForm: String, CaseIterable, Sendable { case number, text, word, fraction, object, null, missing }

  static let names = ["authentication", "customer", "refusedIds", "userId"]

  mutating func set(_ members: ControlMembers) throws(ControlMistake) {
    var new = self
    if members.has("authentication") {
      new.authentication = try members.choice("authentication", as: Authentication.self)
    }
    if members.has("customer") {
      new.customer = try members.choice("customer", as: CustomerEndpoint.Mode.self) ?? .up
    }
    if members.has("refusedIds") { new.refusedIDs = try members.texts("refusedIds") ?? [] }
    if members.has("userId") { new.userID = try members.choice("userId", as: UserIDForm.self) ?? .number }
    self = new
  }

  var tree: JSONTree {
    [
      "authentication": .optional(authentication?.rawValue) ?? .null,
      "customer": .string(customer.rawValue),
      "refusedIds": .array(refusedIDs.map { .string($0) }),
      "userId": .string(userID.rawValue),
    ]
  }

  /// The `user_id` of an answer; `nil` leaves it out.
  func userID(_ id: Int) -> JSONTree? {
    switch userID {
    case .number: .number(Double(id))
    case .text: .string(String(id))
    case .word: "not-a-number"
    case .fraction: .number(Double(id) + 0.5)
    case .object: ["id": .number(Double(id))]
    case .null: .null
    case .missing: nil
    }
  }
}
