import SDKInstances
import SDKProtocol

/// An instance as its file defines it (`sdks.md`, "Settings").
struct InstanceFile: Sendable, Hashable {
  /// The file.
  var file: String
  /// The line with its id; `nil` if that is not known.
  var idLine: Int?
  /// The instance.
  var id: InstanceID
  /// What it is; secrets that the file refers to are in its settings as text.
  var definition: Definition
}
