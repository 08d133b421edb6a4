public import SDKProtocol

/// Somebody who may answer before the provider is run: the delegates that are attached.
public protocol AnswerSource: Sendable {
  /// How many delegates of a key there are now.
  func attachedCount(of key: BridgeKey) -> Int

  /// Whether there is one, or one is expected back.
  func hasDelegate(_ key: BridgeKey) -> Bool

  /// Asks for an answer.
  ///
  /// - Returns: `nil` to pass the question on.
  /// - Throws: `providerDenied` when the answer is no for good, which ends the question.
  func answer(_ question: BridgeQuestion, of key: BridgeKey) async throws(SDKError) -> BridgeAnswer?
}

extension AnswerSource {
  public func hasDelegate(_ key: BridgeKey) -> Bool { attachedCount(of: key) > 0 }
}
