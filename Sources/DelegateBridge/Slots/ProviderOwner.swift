/// Whose share of the providers that run a run counts against.
enum ProviderOwner: Sendable, Hashable {
  /// The user who made the instance.
  case uid(UInt32)
  /// An instance that a file defines. They all belong to the machine's administrator, so each counts for itself: one
  /// whose provider hangs must not starve the others.
  case file(instance: String)

  /// Whether a file defines the instance.
  var isFile: Bool { if case .file = self { true } else { false } }
}
