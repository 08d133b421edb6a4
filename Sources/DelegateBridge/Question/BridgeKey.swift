/// Whose credential is in question: an instance and, where it has several, one of its services.
///
/// One question at a time is asked for each key, and each key has a breaker of its own.
public struct BridgeKey: Sendable, Hashable, CustomStringConvertible {
  /// The uuid of the instance: a new instance of an old name starts without the old one's breaker.
  public let instance: String
  /// The service, for kinds that have several.
  public let service: String?

  /// The key of an instance's service.
  public init(instance: String, service: String? = nil) {
    self.instance = instance
    self.service = service
  }

  public var description: String { service.map { "\(instance)/\($0)" } ?? instance }
}
