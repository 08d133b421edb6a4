public import JSONRPC
public import SDKProtocol

/// A delegate's answer to a question (`provider.md`, "Questions and answers").
public enum DelegateAnswer: Sendable, Hashable {
  /// `getToken`, `invalidAuth`: a token, and its expiry where the token does not state it.
  case token(Secret, expiresAt: Timestamp? = nil)
  /// The same questions in `zendesk.support`: the owner's id of the user.
  case uniqueId(Secret)
  /// The same questions in `edna.chatcenter`: an answer with all members.
  case credential(DelegateTokenAnswer)
  /// `shouldAuthenticate`: whether to authenticate, and with which settings.
  case authenticate(Bool, settings: JSONObject? = nil)
  /// `authenticationFailed`: `true` requests settings again, `false` continues as a guest.
  case proceed(Bool)
  /// Any question: passes it to the next delegate or to the token provider.
  case pass

  /// Returns the answer as it is sent to the daemon.
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

/// An error that a delegate throws to refuse for good. The SDK's own consequence follows, such as a logout.
public struct DelegateDenial: Error, Sendable, Hashable {
  /// Creates a denial.
  public init() {}
}
