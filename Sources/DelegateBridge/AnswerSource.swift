public import SDKProtocol

/// Somebody who may answer before the provider is run: the delegates that are attached.
public protocol AnswerSource: Sendable {
  /// How many delegates of a key there are now.
  func attachedCount(of key: BridgeKey) -> Int

  /// Whether there is one, or one is expected back.
  func hasDelegate(_ key: BridgeKey) -> Bool

  /// Asks for an answer.
  ///
  /// - Parameter waits: whether one who is expected back is waited for: nobody else can be asked.
  /// - Returns: `nil` when nobody is there; an answer that is deferred when all who were asked passed the question on.
  /// - Throws: `providerDenied` when the answer is no for good, `shuttingDown` when nobody asks any longer: both end
  ///   the question. Anything else passes it on, and counts only if nobody else can be asked.
  func answer(
    _ question: BridgeQuestion, of key: BridgeKey, waits: Bool
  ) async throws(SDKError) -> BridgeAnswer?

  /// The instance is deleted: nothing of the key is kept.
  func forget(_ key: BridgeKey)
}

extension AnswerSource {
  public func hasDelegate(_ key: BridgeKey) -> Bool { attachedCount(of: key) > 0 }

  public func forget(_ key: BridgeKey) {}
}
