import Glibc

/// The root keys that are available when a state is opened.
struct RootKeys {
  /// The key that wraps the master key after the opening.
  let target: RootKey
  let origin: RootKeyOrigin
  /// The keys that may open the state, the target first.
  let candidates: [RootKey]
  /// Whether `root.key` exists although a credential replaces it.
  let isFileLeft: Bool

  init(_ source: RootKeySource, in directory: StateDirectory, isNewState: Bool) throws(StoreOpenError) {
    switch source {
    case .file, .credential(nil, next: nil):
      target = try RootKeyFile.key(in: directory, isNewState: isNewState)
      origin = .file
      candidates = [target]
      isFileLeft = false
    case .credential(let current, let next):
      let file = try RootKeyFile.present(in: directory)
      let given = [next, current].compactMap { $0 }
      candidates = given + [file].compactMap { $0 }
      target = candidates[0]
      origin = next == nil ? .credential : .nextCredential
      isFileLeft = file != nil
    }
  }
}
