public import SDKProtocol

/// A source of answers that is tried before the provider: the attached delegates.
public protocol AnswerSource: Sendable {
  /// Returns the number of delegates that are attached for a key.
  func attachedCount(of key: BridgeKey) -> Int

  /// Returns whether a delegate is attached, or was lost so recently that questions still wait for it.
  func hasDelegate(_ key: BridgeKey) -> Bool

  /// Returns how long questions still wait for a lost delegate; `nil` if none is expected, or if one is attached.
  func grace(of key: BridgeKey) -> Duration?

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

  public func grace(of key: BridgeKey) -> Duration? { nil }

  public func forget(_ key: BridgeKey) {}
}
