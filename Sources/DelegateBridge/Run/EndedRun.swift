public import SDKProtocol

/// A run of a token provider that has ended, for observers.
public struct EndedRun: Sendable, Hashable {
  /// The key of the question.
  public var key: BridgeKey
  /// The instance of the question.
  public var instance: InstanceID
  /// The instance's SDK.
  public var kind: KindName
  /// The question.
  public var question: BridgeQuestion.Name
  /// The uid that owns the instance; root for an instance that a file defines.
  public var owner: UInt32
  /// The program without its arguments, which may contain secrets; or the unit.
  public var program: String
  /// Whether `program` is the NAME of a systemd unit.
  public var isUnit: Bool
  /// The exit in the form of `bridge.lastExit`: `0`, `77`, `signal 9`, `timeout`, `output`, `notAllowed`, `notStarted`,
  /// `lost`; or `cancelled` when the answer was no longer needed.
  public var exit: String
  /// The reason why there is no answer; `nil` when there is one.
  public var failure: Reason?
  /// The duration of the run, without the wait for a slot.
  public var duration: Duration
}
