public import JSONRPC
public import SDKProtocol

/// What a delegate answers to a question (`provider.md`, "Questions and answers").
public enum DelegateAnswer: Sendable, Hashable {
  /// `getToken`, `invalidAuth`: a token, and when it ends if it does not say so itself.
  case token(Secret, expiresAt: Timestamp? = nil)
  /// The same in `zendesk.support`: the owner's id of the user.
  case uniqueId(Secret)
  /// The same with all members, for `edna.chatcenter`.
  case credential(DelegateTokenAnswer)
  /// `shouldAuthenticate`: whether to, and with which settings.
  case authenticate(Bool, settings: JSONObject? = nil)
  /// `authenticationFailed`: whether to go on.
  case proceed(Bool)
  /// Any question: whoever is next may know.
  case pass

  /// The answer as it goes on the wire.
  func json() throws -> JSON {
    switch self {
    case .token(let token, let end): try JSONValueEncoder.encode(DelegateTokenAnswer(token: token, expiresAt: end))
    case .uniqueId(let id): try JSONValueEncoder.encode(DelegateTokenAnswer(uniqueId: id))
    case .credential(let answer): try JSONValueEncoder.encode(answer)
    case .authenticate(let isWanted, let settings):
      try JSONValueEncoder.encode(DelegateServiceAnswer(authenticate: isWanted, settings: settings))
    case .proceed(let goesOn): try JSONValueEncoder.encode(DelegateGuestAnswer(proceed: goesOn))
    case .pass: ["defer": true]
    }
  }
}

/// Thrown by a delegate to say no for good: the SDK's own consequence follows, such as a logout.
public struct DelegateDenial: Error, Sendable, Hashable {
  /// No.
  public init() {}
}
