import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The random key that everything in a state hangs on; it lies in the state wrapped under the root key.
enum MasterKey {
  /// A new key, wrapped, with the value by which the root key is known again.
  static func make(under root: RootKey, stateID: String) throws(SealError) -> (
    key: SymmetricKey, wrapped: Data, check: Data
  ) {
    let key = SymmetricKey(size: .bits256)
    let wrapped = try Seal.seal(
      key.withUnsafeBytes { Data($0) }, under: DerivedKey.derive(from: root.key, purpose: "master key"),
      context(stateID))
    return (key, wrapped, check(root, stateID: stateID))
  }

  /// The key of a state.
  static func open(
    _ wrapped: Data, check expected: Data, under root: RootKey, stateID: String
  ) throws(StoreOpenError) -> SymmetricKey {
    guard check(root, stateID: stateID) == expected else {
      throw .keyMissing(
        "The root key is not the one that this state was made with; give the right one. Nothing was changed.")
    }
    do throws(SealError) {
      let wrapping = DerivedKey.derive(from: root.key, purpose: "master key")
      return SymmetricKey(data: try Seal.open(wrapped, under: wrapping, context(stateID), what: "the master key"))
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
    return Data(HMAC<SHA256>.authenticationCode(for: Array(stateID.utf8), using: key).prefix(16))
  }
}
