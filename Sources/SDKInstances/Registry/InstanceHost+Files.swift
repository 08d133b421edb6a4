import JSONRPC
public import SDKProtocol

extension InstanceRegistry {
  /// The present use of an instance name that a configuration file defines.
  public enum NameUse: Sendable {
    /// No instance has the name.
    case none
    /// An instance that a file defined has the name.
    case file
    /// An instance that a call created has the name, so the file's definition can't be used.
    case api
    /// A quarantined instance has the name.
    case quarantined
  }

  /// Returns the present use of an instance name.
  public func nameUse(_ id: InstanceID) -> NameUse {
    if let instance = hosted(id) { return instance.currentDefinition.source == .file ? .file : .api }
    return isKnown(id) ? .quarantined : .none
  }
}

extension InstanceHost {
  /// The result of `reconcile`.
  public enum Reconciled: Sendable {
    case added, changed, unchanged
  }

  /// Creates or changes an instance so that it matches its file. An instance that matches already is not changed.
  ///
  /// - Throws: `instanceExists` when the id was made by a call; `instanceQuarantined`.
  public func reconcile(_ id: InstanceID, _ definition: Definition) async throws -> Reconciled {
    switch registry.nameUse(id) {
    case .none:
      _ = try await create(id, definition)
      return .added
    case .api:
      throw SDKError(
        .existing, .instanceExists,
        "\(id) was made by a call; delete it with sdkctl delete, or choose another id here.",
        instance: id)
    case .quarantined:
      throw SDKError(
        .store, .instanceQuarantined, "The stored rows of \(id) don't open; restore a backup or delete the instance.",
        instance: id)
    case .file: break
    }
    guard let present = registry.hosted(id), present.currentDefinition != definition else { return .unchanged }
    if present.kind != definition.kind {
      try await remove(present)
      _ = try await create(id, definition)
      return .changed
    }
    let backend = registry.kind(definition.kind)?.settings.backend ?? []
    // Also after an error: the definition may be in force without the cleanup of the former one.
    defer { registry.useRules(of: present) }
    try await present.redefine { current in
      .init(
        definition: definition, adapter: try adapter(for: definition, uuid: present.uuid),
        provider: try definition.providerConfiguration(),
        isOtherBackend: backend.contains { definition.settings[$0] != current.settings[$0] }
      )
    }
    return .changed
  }

  /// Deletes an instance whose file was removed, after a logout if its definition requests one.
  ///
  /// - Throws: the error of the logout, and then the instance stays; the error of the deletion.
  public func remove(_ instance: HostedInstance) async throws {
    if instance.currentDefinition.onRemove == .logout { try await instance.signOutEverywhere() }
    try await delete(instance)
  }
}
