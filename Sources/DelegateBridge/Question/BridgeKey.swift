/// The identity of a credential: an instance and, where it has several, one of its services.
///
/// Each key has at most one question in progress and a breaker of its own.
public struct BridgeKey: Sendable, Hashable, CustomStringConvertible {
  /// The uuid of the instance. A new instance under an old name starts with a new breaker.
  public let instance: String
  /// The service, for kinds that have several.
  public let service: String?

  /// Creates the key of an instance's service.
  public init(instance: String, service: String? = nil) {
    self.instance = instance
    self.service = service
  }

  public var description: String { service.map { "\(instance)/\($0)" } ?? instance }
}
