import Crypto

/// The key under which the master key of a state lies wrapped. It is not in the database.
public struct RootKey: Sendable {
  /// Its length.
  public static let byteCount = 32

  let key: SymmetricKey

  /// A key of 32 bytes, such as a credential of systemd holds; `nil` for another length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    key = SymmetricKey(data: bytes)
  }

  init(_ key: SymmetricKey) { self.key = key }
}
