import Crypto

/// The keys that the count of a state's instances is sealed and digested with. They outlive the master key.
struct CensusKeys {
  let seal: SymmetricKey
  let digest: SymmetricKey

  /// The keys of a state, made from one of its own keys.
  init(_ outboxNames: SymmetricKey) {
    seal = DerivedKey.derive(from: outboxNames, purpose: "census seal")
    digest = DerivedKey.derive(from: outboxNames, purpose: "census digest")
  }
}
