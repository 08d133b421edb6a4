public import JSONRPC
public import SDKProtocol

/// Something that has still to be told to the vendor and outlives a wipe of its instance (`sdks.md`, rule 3): sealed
/// under a key of its own, which is destroyed when the entry is deleted.
public struct StoredOutboxEntry: Sendable, Hashable {
  /// How many an instance may have.
  public static let maximumCount = 256

  /// What it is put and deleted by.
  public var id: String
  /// What is to be done, with the credential that it takes. Sealed.
  public var value: JSON
  /// When it is given up; the store only keeps this, in clear.
  public var deadline: Timestamp

  /// An entry.
  public init(id: String, value: JSON, deadline: Timestamp) {
    self.id = id
    self.value = value
    self.deadline = deadline
  }
}
