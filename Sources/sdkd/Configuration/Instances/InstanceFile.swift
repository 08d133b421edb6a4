import SDKInstances
import SDKProtocol

/// An instance as its file defines it (`sdks.md`, "Settings").
struct InstanceFile: Sendable, Hashable {
  /// The file.
  var file: String
  /// The line of its id; `nil` if it is unknown.
  var idLine: Int?
  /// The instance.
  var id: InstanceID
  /// The definition. Secrets that the file refers to are resolved: the settings contain their text.
  var definition: Definition
}
