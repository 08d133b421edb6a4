import JSONRPC
import SDKProtocol

/// The handlers of `instance.create`, `list`, `get`, `update` and `delete`.
enum InstanceHandlers {
  static func register(in router: inout CallRouter, host: InstanceHost) {
    let registry = host.registry
    router.register(InstanceCreate.self, about: { .instance($0.instance) }) { params, context in
      let ownerRule = try registry.checkCreation(of: params.instance, by: context.peer)
      let definition = Definition(
        kind: params.kind, source: .api, owner: context.peer.uid, ownerRule: ownerRule,
        settings: params.settings ?? [:], provider: params.provider, access: params.access ?? AccessRules(),
        labels: params.labels ?? [:])
      try registry.check(definition, replacing: nil, by: context.peer)
      let role: Role = registry.access.isAdmin(context.peer) ? .admin : .owner
      return shape(try await host.create(params.instance, definition, by: context.peer), registry, role)
    }
    router.register(InstanceList.self) { params, context in
      try InstanceListing(params, registry, context).result
    }
    router.register(on: registry, InstanceGet.self) { _, instance, context in
      shape(instance, registry, context.role)
    }
    router.register(on: registry, InstanceUpdate.self) { params, instance, context in
      try await update(instance, params, host, context)
      return shape(instance, registry, context.role)
    }
    router.register(InstanceDelete.self, about: { .instance($0.instance) }) { params, context in
      // Without the stored credential there is no logout, so `find` refuses it.
      if registry.access.isAdmin(context.peer), params.logout != true,
        try await host.deleteQuarantined(params.instance)
      {
        return Empty()
      }
      let instance = try registry.find(params.instance, for: context.peer, atLeast: .owner).instance
      try refuseFile(instance)
      if params.logout == true { try await instance.signOutEverywhere() }
      try await host.delete(instance)
      return Empty()
    }
  }

  /// Returns the description of an instance for callers with a role.
  static func shape(_ instance: HostedInstance, _ registry: InstanceRegistry, _ role: Role) -> Instance {
    instance.shape(
      secretSettings: registry.secretSettings(of: instance.kind),
      isAdmin: role == .admin, conceals: registry.conceals(instance, from: role))
  }

  private static func update(
    _ instance: HostedInstance, _ params: InstanceUpdate.Params, _ host: InstanceHost, _ context: CallContext
  ) async throws {
    let registry = host.registry
    try refuseFile(instance)
    if params.settings != nil || params.access != nil || params.provider != nil, context.role < .owner {
      throw SDKError.accessDenied("Only the owner changes settings and access.", instance: instance.id)
    }
    // Also after an error: the definition may be in force without the cleanup of the former one.
    defer { registry.useRules(of: instance) }
    try await instance.redefine { current in
      var next = current
      if let settings = params.settings { next.settings = current.settings.merged(with: settings) }
      if let provider = params.provider {
        next.provider = provider.objectValue.map { (current.provider ?? [:]).merged(with: $0) }
      }
      if let access = params.access {
        let former = try JSONValueEncoder.encode(current.access).objectValue ?? [:]
        next.access = try Settings.decode(AccessRules.self, from: former.merged(with: access), at: "access")
      }
      if let labels = params.labels { next.labels = try merged(current.labels, labels) }
      try registry.check(next, replacing: current, by: context.peer)
      let backend = registry.kind(current.kind)?.settings.backend ?? []
      let isOtherBackend = backend.contains { next.settings[$0] != current.settings[$0] }
      return .init(
        definition: next, adapter: try host.adapter(for: next, uuid: instance.uuid),
        provider: try next.providerConfiguration(), isOtherBackend: isOtherBackend)
    }
  }

  private static func merged(_ labels: [String: String], _ patch: JSONObject) throws -> [String: String] {
    // As an object, since its names compare as bytes.
    var result = JSONObject(labels.map { ($0.key, .string($0.value)) })
    for member in patch.members {
      switch member.value {
      case .null: result[member.key] = nil
      case .string: result[member.key] = member.value
      default:
        throw RPCError.invalidParams(
          "The member labels.\(member.key.clipped(toUTF8: 64)) must be a string or null.", member: "labels")
      }
    }
    if let name = result.equivalentName {
      throw RPCError.invalidParams(
        "The member labels.\(name.clipped(toUTF8: 64)) must be \(JSONSchema.anotherName).", member: "labels")
    }
    return result.members.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
  }

  private static func refuseFile(_ instance: HostedInstance) throws {
    guard instance.currentDefinition.source == .file else { return }
    throw SDKError(
      .state, .ownedByFile, "\(instance.id) comes from a file; change the file and reload.", instance: instance.id)
  }
}
