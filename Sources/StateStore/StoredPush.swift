public import JSONRPC

/// A push registration as stored, part of its instance. It is sealed under the instance's data key and destroyed by a
/// wipe.
public struct StoredPush: Sendable, Hashable {
  /// The maximum number of registrations for one instance.
  public static let maximumCount = 64

  /// The ID under which the registration is written and deleted.
  public var id: String
  /// The content of the registration. Sealed.
  public var value: JSON

  /// Creates a push registration.
  public init(id: String, value: JSON) {
    self.id = id
    self.value = value
  }
}
