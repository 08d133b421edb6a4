import JSONRPC

/// What the store itself looks at in an identity.
enum StoredIdentity {
  /// How many tokens a wipe of this identity destroys: one if it has a credential.
  static func tokenCount(in identity: JSON?) -> Int {
    guard let credential = identity?["credential"], !credential.isNull else { return 0 }
    return 1
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
