package import JSONRPC
import SDKProtocol

/// The counts of a wipe, updated by the later parts of its change.
package struct WipeCount {
  private let former: JSON?
  package private(set) var wiped: CommitResult.Wiped

  /// Creates the counts for the wipe of an instance with the identity `former`.
  package init(of former: JSON?, storage: Int, pushes: Int, storageEpoch: UInt64) {
    self.former = former
    wiped = CommitResult.Wiped(
      storage: storage, tokens: StoredIdentity.tokenCount(in: former), pushes: pushes, storageEpoch: storageEpoch)
  }

  /// Subtracts the tokens that the new identity of the same change contains again.
  package mutating func identified(as identity: JSON?) {
    wiped.tokens = StoredIdentity.tokenCount(in: former, notKeptIn: identity)
  }
}

/// The part of an identity that the store itself reads. An identity is one record with a `user` and a `credential`, or
/// has `services` with a record for each name.
enum StoredIdentity {
  /// Returns whether an identity has a user, also one whose credential is gone. A user of an unknown form counts.
  static func hasUser(_ identity: JSON?) -> Bool {
    let records = identity?["services"]?.objectValue?.members.map(\.value) ?? [identity].compactMap { $0 }
    return records.contains { record in
      guard let user = record["user"], !user.isNull else { return false }
      return (try? JSONValueDecoder.decode(User.self, from: user)) != User.none
    }
  }

  /// Returns the number of tokens that a wipe of this identity destroys: one for each record with a credential.
  static func tokenCount(in identity: JSON?) -> Int { tokenCount(in: identity, notKeptIn: nil) }

  /// Returns the number of tokens that a wipe of this identity destroys when the same change writes the identity
  /// `next`.
  ///
  /// A token does not count if `next` has the same credential for the same service. The credential of a record without
  /// `services` always counts.
  static func tokenCount(in identity: JSON?, notKeptIn next: JSON?) -> Int {
    guard let services = identity?["services"]?.objectValue else { return credential(of: identity) == nil ? 0 : 1 }
    return services.members.count { service in
      guard let credential = credential(of: service.value) else { return false }
      return Self.credential(of: next?["services"]?[service.key]) != credential
    }
  }

  private static func credential(of record: JSON?) -> JSON? {
    guard let credential = record?["credential"], !credential.isNull else { return nil }
    return credential
  }
}

extension CommitResult.Wiped {
  /// Returns the data of an `identityWiped` event: the given data with these counts and the storage epoch set.
  package func data(over data: JSONObject, instance: InstanceUUID) -> JSONObject {
    var data = data
    data["storage"] = JSON(storage)
    data["pushes"] = JSON(pushes)
    data["tokens"] = JSON(tokens)
    data["storageEpoch"] = .string(instance.clientStorageEpoch(storageEpoch))
    return data
  }
}
