public import JSONRPC

/// A push registration as stored: part of its instance, sealed under the instance's data key and destroyed by a wipe.
public struct StoredPush: Sendable, Hashable {
  /// How many an instance may have.
  public static let maximumCount = 64

  /// What it is put and deleted by.
  public var id: String
  /// The record itself. Sealed.
  public var value: JSON

  /// A push registration.
  public init(id: String, value: JSON) {
    self.id = id
    self.value = value
  }
}
