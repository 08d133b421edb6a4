/// The owner of a run, for shares of the running providers.
enum ProviderOwner: Sendable, Hashable {
  /// The user that created the instance.
  case uid(UInt32)
  /// An instance that a file defines. All of these belong to the machine's administrator, so each has a share of its
  /// own. Otherwise one whose provider hangs would starve the others.
  case file(instance: String)

  /// Whether a file defines the instance.
  var isFile: Bool { if case .file = self { true } else { false } }
}
