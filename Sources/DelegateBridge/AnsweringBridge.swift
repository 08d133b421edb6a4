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

  /// Returns how long a lost delegate is still waited for; `nil` if none is, or if one is attached.
  func delegateGrace(_ key: BridgeKey) -> Duration?

  /// Closes the breaker, because a caller with the control role requests an attempt now.
  func reset(_ key: BridgeKey)

  /// The number of concurrent provider runs and the typical duration of a run.
  var pace: BridgePace { get }

  /// Records that the answer to the last question passed the caller's own check. Each answer is accepted or rejected.
  func accept(_ key: BridgeKey)

  /// Counts the last run as failed, because its answer failed the caller's own check.
  func reject(_ key: BridgeKey)

  /// Discards everything that is kept for the key of a deleted instance.
  func forget(_ key: BridgeKey)
}

extension AnsweringBridge {
  public func hasDelegate(_ key: BridgeKey) -> Bool { false }

  public func delegateGrace(_ key: BridgeKey) -> Duration? { nil }

  public func accept(_ key: BridgeKey) {}

  public func reject(_ key: BridgeKey) {}

  public var pace: BridgePace { BridgePace(slots: 32, slotsPerOwner: 8) }
}
