public import JSONRPC
public import SDKProtocol

/// The attachment of a delegate, which answers for instances until it is detached or this object is released. A lost
/// connection is reopened automatically.
public final class DelegateAttachment: Sendable {
  /// The statuses: the current one first, then each change; ends after `ended`. For a single reader; of the unread
  /// statuses the latest 16 are kept.
  public let statuses: AsyncStream<DelegateStatus>

  private let keeper: DelegateKeeper
  /// The task that keeps the delegate attached; `detach` waits for its end.
  private let task: Task<Void, Never>

  init(_ keeper: DelegateKeeper) {
    self.keeper = keeper
    statuses = keeper.statuses
    task = Task { await keeper.run() }
  }

  deinit { task.cancel() }

  /// The current status.
  public var status: DelegateStatus { keeper.status }

  /// Detaches the delegate. The daemon sends it no further questions and does not wait for its return.
  ///
  /// While the connection is lost, the daemon can't be told. Questions that it has for the instances then wait for the
  /// delegate up to `delegate.grace`, as after any loss, unless there is a token provider.
  ///
  /// - Throws: `SDKClientError` when the call to the daemon failed. The connection is closed all the same, and the daemon
  ///   takes that for a loss.
  public func detach() async throws {
    let told = await keeper.detach()
    task.cancel()
    await task.value
    try told.get()
  }
}

/// The status of a delegate's attachment.
public enum DelegateStatus: Sendable, Hashable {
  /// The delegate is attached, and the daemon sends it questions.
  case attached
  /// The connection was lost, such as by a restart of the daemon, and is being reopened. Meanwhile questions go to
  /// other delegates or the token provider. An instance that has neither waits up to `delegate.grace` for a delegate.
  case detached(SDKClientError)
  /// The delegate gets no more questions and does not reconnect. It was detached (`nil`), or the error is final, such
  /// as after the loss of its role.
  case ended(SDKClientError?)
}

/// A delegate's answer to a question (`provider.md`, "Questions and answers").
public enum DelegateAnswer: Sendable, Hashable {
  /// `getToken`, `invalidAuth`: a token, and its expiry where the token does not state it.
  case token(Secret, expiresAt: Timestamp? = nil)
  /// `getToken`, `invalidAuth` of a kind whose users have unique ids: the id that the owner gives the user.
  case uniqueId(Secret)
  /// `getToken`, `invalidAuth`: an answer with any members, such as `scheme` and `signature` where the
  /// kind has them.
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
