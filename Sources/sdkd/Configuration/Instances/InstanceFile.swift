import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol

/// An instance as its file defines it (sdkd.toml(5)).
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

extension InstanceFile {
  /// The schema of an instance's file except its settings, whose schema is the kind's.
  static let schema = JSONSchema.object([
    .required("id", InstanceID.jsonSchema, "the instance"),
    .required("kind", KindName.jsonSchema, "its SDK"),
    .optional("labels", .map(.string(), atMost: 64), "labels for the operator"),
    .optional("settings", .any, "the kind's settings"),
    .optional("provider", ProviderConfiguration.jsonSchema, "its token provider"),
    .optional("access", AccessRules.jsonSchema, "who may do what"),
    .optional(
      "on_remove", .enumeration(Definition.OnRemove.allCases.map(\.rawValue)),
      "what happens when the file is gone: delete, or logout at the vendor first; delete"),
  ])
}
