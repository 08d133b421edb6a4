import JSONRPC
public import SDKProtocol

extension InstanceRegistry {
  /// What became of the definition that a file holds.
  public enum Reconciled: Sendable {
    case added, changed, unchanged
  }

  /// What stands under a name that a file defines.
  public enum Standing: Sendable {
    /// Nothing.
    case none
    /// An instance of a file.
    case file
    /// An instance that a call made: the file can't have the name.
    case api
    /// An instance whose rows don't open.
    case quarantined
  }

  /// What stands under a name.
  public func standing(of id: InstanceID) -> Standing {
    if let instance = hosted(id) { return instance.currentDefinition.source == .file ? .file : .api }
    return isKnown(id) ? .quarantined : .none
  }

  /// Makes or changes an instance so that it is what its file says. One that is it already is not touched.
  ///
  /// - Throws: `instanceExists` when the id was made by a call; `instanceQuarantined`.
  public func reconcile(_ id: InstanceID, _ definition: Definition) async throws -> Reconciled {
    switch standing(of: id) {
    case .none:
      _ = try await create(id, definition)
      return .added
    case .api:
      throw SDKError(
        .existing, .instanceExists, "\(id) was made by a call; delete it there or choose another id here.",
        instance: id)
    case .quarantined:
      throw SDKError(
        .store, .instanceQuarantined, "The stored rows of \(id) don't open; restore a backup or delete the instance.",
        instance: id)
    case .file: break
    }
    guard let present = hosted(id), present.currentDefinition != definition else { return .unchanged }
    if present.kind != definition.kind {
      try await remove(present)
      _ = try await create(id, definition)
      return .changed
    }
    let backend = kind(definition.kind)?.backendSettings ?? []
    try await present.redefine { current in
      (
        definition, try adapter(for: definition, uuid: present.uuid), try definition.providerConfiguration(),
        isOtherBackend: backend.contains { definition.settings[$0] != current.settings[$0] }
      )
    }
    requestNames(of: present)
    return .changed
  }

  /// Deletes an instance whose file is gone, as the file wished.
  ///
  /// - Throws: why the vendor's session could not be ended, and then the instance stays; why it could not be deleted.
  public func remove(_ instance: HostedInstance) async throws {
    if instance.currentDefinition.onRemove == .logout { try await instance.signOutEverywhere() }
    try await delete(instance)
  }
}
