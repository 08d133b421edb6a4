public import JSONRPC
public import SDKProtocol

/// A pending delivery to the vendor, which outlives a wipe of its instance (`sdks.md`, rule 3). It is sealed under a
/// key of its own, which is destroyed when the entry is deleted.
public struct StoredOutboxEntry: Sendable, Hashable {
  /// The maximum number of entries for one instance.
  public static let maximumCount = 256

  /// The ID under which the entry is written and deleted.
  public var id: String
  /// The action to perform, with the credential that it needs. Sealed.
  public var value: JSON
  /// The time at which the delivery is abandoned. The store keeps it in clear and does not act on it.
  public var deadline: Timestamp

  /// Creates an entry.
  public init(id: String, value: JSON, deadline: Timestamp) {
    self.id = id
    self.value = value
    self.deadline = deadline
  }
}
