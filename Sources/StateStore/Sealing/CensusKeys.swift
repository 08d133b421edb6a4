import Crypto

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
