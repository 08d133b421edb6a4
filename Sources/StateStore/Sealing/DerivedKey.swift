import Crypto

/// Keys derived from another key, one for each purpose (HKDF-SHA256).
enum DerivedKey {
  static func derive(from key: SymmetricKey, purpose: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array("sdkd \(purpose)".utf8), outputByteCount: 32)
  }
}

/// The keys with which the census is sealed and digested. They outlive the master key.
struct CensusKeys {
  let seal: SymmetricKey
  let digest: SymmetricKey

  /// Derives the keys from one of the state's own keys.
  init(_ outboxNames: SymmetricKey) {
    seal = DerivedKey.derive(from: outboxNames, purpose: "census seal")
    digest = DerivedKey.derive(from: outboxNames, purpose: "census digest")
  }
}
