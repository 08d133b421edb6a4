/// A message of the contract that wants no answer.
public protocol RPCNotification: SendableMetatype {
  /// What it carries.
  associatedtype Params: RPCValue
  /// The name on the wire, such as `events.event`.
  static var name: String { get }
  /// One sentence for lists.
  static var summary: String { get }
}
