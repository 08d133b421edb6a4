public import SDKProtocol

/// A bridge that answers the questions of instances. Tests replace it.
public protocol AnsweringBridge: Sendable {
  /// Requests an answer from the attached delegates, latest first, then from the provider.
  ///
  /// Callers must have at most one question per key in progress.
  ///
  /// - Parameters:
  ///   - key: identifies the breaker and the turn in the queue.
  ///   - provider: the configured token provider, if there is one.
  ///   - owner: the uid whose share of long runs this counts against. `nil` for an instance that a file defines, which
  ///     has a share of its own.
  /// - Throws: the provider's reasons of sdkd-protocol(7); `shuttingDown` when the calling task was cancelled.
  func ask(
    _ question: BridgeQuestion, of key: BridgeKey, provider: ProviderConfiguration?, owner: UInt32?
  ) async throws(SDKError) -> BridgeAnswer

  /// Returns the state of the bridge for a key.
  func status(of key: BridgeKey) -> Instance.Bridge

  /// Returns whether a delegate is attached, or was lost so recently that it is waited for. A question can then be
  /// answered without a configured provider.
  func hasDelegate(_ key: BridgeKey) -> Bool

  /// Closes the breaker, because a caller with the control role requests an attempt now.
  func reset(_ key: BridgeKey)

  /// The number of concurrent provider runs and the typical duration of a run.
  var pace: BridgePace { get }

  /// Counts the last run as failed, because its answer failed the caller's own check.
  func reject(_ key: BridgeKey)

  /// Discards everything that is kept for the key of a deleted instance.
  func forget(_ key: BridgeKey)
}

extension AnsweringBridge {
  public func hasDelegate(_ key: BridgeKey) -> Bool { false }

  public func reject(_ key: BridgeKey) {}

  public var pace: BridgePace { BridgePace(slots: 32, slotsPerOwner: 8) }
}

/// A source of answers that is tried before the provider: the attached delegates.
public protocol AnswerSource: Sendable {
  /// Returns the number of delegates that are attached for a key.
  func attachedCount(of key: BridgeKey) -> Int

  /// Returns whether a delegate is attached, or was lost so recently that questions still wait for it.
  func hasDelegate(_ key: BridgeKey) -> Bool

  /// Requests an answer.
  ///
  /// - Parameter waits: whether to wait for a delegate that is expected back. True when no provider is configured.
  /// - Returns: `nil` when no delegate received the question; a deferred answer when every delegate passed it on.
  /// - Throws: `providerDenied` when the answer is a final no, `shuttingDown` when the calling task was cancelled. Both
  ///   end the question. Any other error passes the question on. It is reported only if no provider is configured or
  ///   the provider defers too.
  func answer(
    _ question: BridgeQuestion, of key: BridgeKey, waits: Bool
  ) async throws(SDKError) -> BridgeAnswer?

  /// Discards everything that is kept for the key of a deleted instance.
  func forget(_ key: BridgeKey)
}

extension AnswerSource {
  public func hasDelegate(_ key: BridgeKey) -> Bool { attachedCount(of: key) > 0 }

  public func forget(_ key: BridgeKey) {}
}
