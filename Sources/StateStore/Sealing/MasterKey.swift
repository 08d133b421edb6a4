import Cryptography
import FoundationEssentials

/// The random key that protects everything in a state. The state contains it wrapped under the root key.
enum MasterKey {
  /// The stored form: the wrapped key, and a check value that identifies the root key.
  struct Wrapped {
    var key: Data
    var check: Data
  }

  /// Wraps a key under a root key. The result always has the same length.
  static func wrap(_ key: SymmetricKey, under root: RootKey, stateID: String) throws(SealError) -> Wrapped {
    let sealed = try Seal.seal(
      key.withUnsafeBytes { Data($0) }, under: DerivedKey.derive(from: root.key, purpose: "master key"),
      context(stateID))
    return Wrapped(key: sealed, check: check(root, stateID: stateID))
  }

  /// Returns the key of a state, and the index of the root key that opened it.
  ///
  /// - Throws: `keyMissing` when no root key matches; `corrupt` when the wrapped key does not open.
  static func open(
    _ wrapped: Wrapped, under roots: [RootKey], stateID: String
  ) throws(StoreOpenError) -> (key: SymmetricKey, root: Int) {
    guard let index = roots.firstIndex(where: { check($0, stateID: stateID) == wrapped.check }) else {
      throw .keyMissing(
        "The root key is not the one that this state was made with; give the right one. Nothing was changed.")
    }
    do throws(SealError) {
      let wrapping = DerivedKey.derive(from: roots[index].key, purpose: "master key")
      let plain = try Seal.open(wrapped.key, under: wrapping, context(stateID), what: "the master key")
      return (SymmetricKey(data: plain), index)
    } catch {
      throw .corrupt("the master key does not open")
    }
  }

  private static func context(_ stateID: String) -> AdditionalData {
    var context = AdditionalData("master key")
    context.append(stateID)
    return context
  }

  private static func check(_ root: RootKey, stateID: String) -> Data {
    let key = DerivedKey.derive(from: root.key, purpose: "key check")
    return Data(key.authenticationCode(of: Array(stateID.utf8)).prefix(16))
  }
}
