import Crypto

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
