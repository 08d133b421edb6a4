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

  private init(_ code: Int, _ reasons: [ProtocolReason], _ message: String) {
    name = reasons.first?.rawValue ?? ""
    self.code = code
    self.message = message
    self.reasons = reasons.map(\.rawValue)
  }

  /// The errors that any request can get, whatever its method.
  public static let ofEveryRequest = [
    DeclaredError(-32700, [.parseError], "The message is not JSON."),
    DeclaredError(-32600, [.invalidRequest, .frameTooLarge], "The message is not a request that is accepted."),
    DeclaredError(-32601, [.methodNotFound], "There is no such method."),
    DeclaredError(-32602, [.invalidParams], "The params are not those of the method."),
    DeclaredError(-32603, [.internalError], "A fault of the daemon."),
    DeclaredError(-32800, [.cancelled], "The request was cancelled before anything happened."),
    DeclaredError("callLimits", .limit, [.rateLimit, .tooManyInFlight, .replyTooLarge, .shuttingDown]),
  ]
}

extension SDKError.Origin {
  /// The meaning of the code, as one sentence.
  public var meaning: String {
    switch self {
    case .access: "The caller lacks the role that the call requires."
    case .missing: "What the call is about does not exist, or is hidden from the caller."
    case .existing: "What the call would make exists already."
    case .state: "The state of the instance does not allow the call."
    case .local: "The daemon refused what was given before it asked the vendor."
    case .vendor: "The vendor refused."
    case .unreachable: "The vendor can't be reached or answers badly."
    case .provider: "The token provider or delegate gave no credential."
    case .limit: "A limit is reached."
    case .store: "The state on disk can't be used."
    }
  }
}
