/// An error code that a method can respond with, and the reasons that may come with it.
///
/// A method has at most one declaration for each code, because OpenRPC requires the codes of a method's errors to be
/// unique.
public struct DeclaredError: Sendable, Hashable {
  /// The name in the OpenRPC document.
  public let name: String
  /// The number of the error.
  public let code: Int
  /// The meaning of the code, as one sentence.
  public let message: String
  /// The possible values of `data.reason`.
  public let reasons: [String]

  /// Creates the declaration of an error with the code of `origin`.
  public init(_ name: String, _ origin: SDKError.Origin, _ reasons: [Reason]) {
    self.name = name
    code = origin.rawValue
    message = origin.meaning
    self.reasons = reasons.map(\.rawValue)
  }

  /// Creates the declaration of an error of JSON-RPC itself. It has the name of its first reason.
  init(_ code: Int, _ reasons: [ProtocolReason], _ message: String) {
    name = reasons.first?.rawValue ?? ""
    self.code = code
    self.message = message
    self.reasons = reasons.map(\.rawValue)
  }
}

/// The explanation of a reason, for the error reference and `sdkctl explain`.
public struct ReasonGuide: Sendable, Hashable {
  /// The origins of errors with this reason, which give their codes.
  public let origins: [SDKError.Origin]
  /// The cause, in one or two sentences.
  public let cause: String
  /// The next step of the developer or operator.
  public let remedy: String

  init(_ origins: [SDKError.Origin], _ cause: String, _ remedy: String) {
    self.origins = origins
    self.cause = cause
    self.remedy = remedy
  }
}
