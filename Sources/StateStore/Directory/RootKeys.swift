import Cryptography
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

/// The key that wraps the master key of a state. It is not in the database.
public struct RootKey: Sendable {
  /// The length of the key in bytes.
  public static let byteCount = 32

  let key: SymmetricKey

  /// Creates a key from 32 bytes, such as the content of a systemd credential. Returns `nil` for any other length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    key = SymmetricKey(data: bytes)
  }

  init(_ key: SymmetricKey) { self.key = key }
}

/// The source from which the root key is read when a state is opened.
public enum RootKeySource: Sendable {
  /// `root.key` in the state directory, created with a new state.
  case file
  /// A key from the service manager, and the key that is to replace it. The state opens with either of them or with
  /// `root.key`, and is rewrapped under `next`, or else under the first key. `root.key` is deleted once all backups are
  /// rewrapped too. Without any key, this is the same as `file`.
  case credential(RootKey?, next: RootKey? = nil)
}

/// The origin of the root key that wraps a state's master key.
public enum RootKeyOrigin: String, Sendable, Hashable {
  /// `root.key` in the state directory.
  case file
  /// The credential `sdkd.key`.
  case credential
  /// The credential `sdkd.key.next`, which is to replace `sdkd.key`.
  case nextCredential
}
