import Crypto

/// Keys derived from another key, one for each purpose (HKDF-SHA256).
enum DerivedKey {
  static func derive(from key: SymmetricKey, purpose: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array("sdkd \(purpose)".utf8), outputByteCount: 32)
  }
}
