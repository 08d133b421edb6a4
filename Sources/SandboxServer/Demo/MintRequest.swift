public import Foundation

/// A request for a JWT such as the customer's server issues: what `sdk-sandbox mint` was given.
public struct MintRequest: Sendable {
  /// The user's id at the customer.
  public var user: String
  /// The time of issue.
  public var issuedAt: Date
  /// The lifetime in seconds; `nil` leaves `exp` out.
  public var lifetime: TimeInterval?
  /// The options by name, such as `kid` and `secret`.
  public var options: [String: String]

  /// Creates a request.
  public init(user: String, issuedAt: Date, lifetime: TimeInterval?, options: [String: String] = [:]) {
    self.user = user
    self.issuedAt = issuedAt
    self.lifetime = lifetime
    self.options = options
  }

  /// Throws if an option is not one of these.
  func check(_ known: String...) throws(MintMistake) {
    guard let other = options.keys.sorted().first(where: { !known.contains($0) }) else { return }
    throw MintMistake(message: "A token of this SDK has no --\(other).")
  }

  /// Returns a claim: that of an option, of which an empty one leaves the claim out, or a default.
  func claim(_ name: String, otherwise: String? = nil) -> String? {
    options[name].map { $0.isEmpty ? nil : $0 } ?? otherwise
  }
}

/// A mistake in a request for a JWT.
public struct MintMistake: Error {
  /// The mistake, one sentence.
  public let message: String
}
