import SDKInstances
import SDKProtocol

/// An instance as its file defines it (`sdks.md`, "Settings").
struct InstanceFile: Sendable, Hashable {
  /// What becomes of the vendor's session when the file is gone.
  enum OnRemove: String, Sendable, Codable, CaseIterable {
    /// The instance is deleted here; the vendor's session runs out.
    case delete
    /// The vendor's session is ended first.
    case logout
  }

  /// The file.
  var file: String
  /// The instance.
  var id: InstanceID
  /// What it is; secrets that the file refers to are in its settings as text.
  var definition: Definition
  /// What becomes of the vendor's session.
  var onRemove: OnRemove
}
