import JSONRPC

/// The options of the Support backend (`POST /_options`), for faults that a scripted response can't produce.
struct SupportOptions: Sendable {
  /// The `authentication` in the settings of all apps; `nil` to keep each app's own.
  var authentication: Authentication?
  var customer = CustomerEndpoint.Mode.up
  /// The unique ids that the customer's endpoint refuses, as after the end of an access token.
  var refusedIDs: [String] = []
  var userID = UserIDForm.number

  enum Authentication: String, CaseIterable, Sendable { case jwt, anonymous }

  /// The form of `user_id` in the response to an exchange.
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

  var tree: JSON {
    [
      "authentication": .optional(authentication?.rawValue) ?? .null,
      "customer": .string(customer.rawValue),
      "refusedIds": .array(refusedIDs.map { .string($0) }),
      "userId": .string(userID.rawValue),
    ]
  }

  /// Returns the `user_id` of a response; `nil` to leave it out.
  func userID(_ id: Int) -> JSON? {
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
