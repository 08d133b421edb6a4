public import SDKProtocol

/// A run of a token provider that has ended, for whoever observes runs.
public struct EndedRun: Sendable, Hashable {
  /// Whose breaker and turn it was.
  public var key: BridgeKey
  /// For which instance.
  public var instance: InstanceID
  /// The instance's SDK.
  public var kind: KindName
  /// What was asked.
  public var question: BridgeQuestion.Name
  /// The uid that owns the instance; root for one that a file defines.
  public var owner: UInt32
  /// The program, without its arguments, which may be anything; or the unit.
  public var program: String
  /// Whether `program` is the NAME of a systemd unit.
  public var isUnit: Bool
  /// How it ended, as `bridge.lastExit` says it: `0`, `77`, `signal 9`, `timeout`, `output`, `notAllowed`, `notStarted`,
  /// `lost`;
  /// `cancelled` when nobody asked any longer.
  public var exit: String
  /// Why there is no answer; `nil` when there is one.
  public var failure: Reason?
  /// How long it took, the wait for a slot not included.
  public var duration: Duration
}
