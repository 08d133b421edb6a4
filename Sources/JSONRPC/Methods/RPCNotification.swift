/// A notification of the contract: a message without a response.
public protocol RPCNotification: SendableMetatype {
  /// The type of the params.
  associatedtype Params: RPCValue
  /// The name in messages, such as `events.event`.
  static var name: String { get }
  /// A one-sentence description for lists.
  static var summary: String { get }
}
