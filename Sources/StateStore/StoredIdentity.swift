import JSONRPC

/// What the store itself looks at in an identity: one record with a `credential`, or `services` with a record for each
/// name.
enum StoredIdentity {
  /// How many tokens a wipe of this identity destroys: one for each record with a credential.
  static func tokenCount(in identity: JSON?) -> Int { tokenCount(in: identity, notKeptIn: nil) }

  /// How many tokens a wipe of this identity destroys when the same change writes another one.
  ///
  /// Only what a service has kept is not counted: the same credential under the same name. A wiped record without
  /// services keeps nothing.
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
  /// The counts as the data of an `identityWiped` event, over what the event had.
  func data(over data: JSONObject, instance: InstanceUUID) -> JSONObject {
    var data = data
    data["storage"] = JSON(storage)
    data["pushes"] = JSON(pushes)
    data["tokens"] = JSON(tokens)
    data["storageEpoch"] = .string(instance.clientStorageEpoch(storageEpoch))
    return data
  }
}
