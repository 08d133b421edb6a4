public import SDKProtocol

/// Who answers an instance's questions: what the instances use, and tests replace.
public protocol AnsweringBridge: Sendable {
  /// Asks the attached delegates, latest first, then the provider.
  ///
  /// Callers see to it that one question at a time is asked for a key.
  ///
  /// - Parameters:
  ///   - key: whose breaker and turn in the queue this is.
  ///   - provider: the configured token provider, if there is one.
  ///   - owner: the uid whose share of long runs this counts against; `nil` for an instance that a file defines, which
  ///     counts for itself.
  /// - Throws: the provider's reasons of `protocol.md`; `shuttingDown` when the calling task was cancelled.
  func ask(
    _ question: BridgeQuestion, of key: BridgeKey, provider: ProviderConfiguration?, owner: UInt32?
  ) async throws(SDKError) -> BridgeAnswer

  /// How the bridge stands for a key.
  func status(of key: BridgeKey) -> Instance.Bridge

  /// Whether a delegate is attached, or was so shortly before that it is waited for: there is somebody to ask although
  /// no provider may be configured.
  func hasDelegate(_ key: BridgeKey) -> Bool

  /// Closes the breaker: someone with control wants an attempt now.
  func reset(_ key: BridgeKey)

  /// How many answers can be had at a time and how long each takes.
  var pace: BridgePace { get }

  /// The last answer failed the caller's own check of it, so the run counts as failed after all.
  func reject(_ key: BridgeKey)

  /// The instance is deleted: nothing of the key is kept.
  func forget(_ key: BridgeKey)
}

extension AnsweringBridge {
  public func hasDelegate(_ key: BridgeKey) -> Bool { false }

  public func reject(_ key: BridgeKey) {}

  public var pace: BridgePace { BridgePace(slots: 32, slotsPerOwner: 8) }
}
