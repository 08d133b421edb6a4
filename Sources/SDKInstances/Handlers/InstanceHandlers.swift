import JSONRPC
import SDKProtocol

/// The handlers of `instance.create`, `list`, `get`, `update` and `delete`.
enum InstanceHandlers {
  static func register(in router: inout Router<CallContext>, registry: InstanceRegistry) {
    router.register(InstanceCreate.self) { params, context in
      try registry.checkCreation(of: params.instance, by: context.peer)
      try checkLabels(params.labels ?? [:])
      let definition = Definition(
        kind: params.kind, source: .api, owner: context.peer.uid, settings: params.settings ?? [:],
        provider: params.provider, access: params.access ?? AccessRules(), labels: params.labels ?? [:])
      try registry.check(definition, replacing: nil, by: context.peer)
      return shape(try await registry.create(params.instance, definition), registry, context)
    }
    router.register(InstanceList.self) { params, context in list(params, registry, context) }
    router.register(on: registry, InstanceGet.self) { _, instance, context in shape(instance, registry, context) }
    router.register(on: registry, InstanceUpdate.self) { params, instance, context in
      try await update(instance, params, registry, context)
      return shape(instance, registry, context)
    }
    router.register(InstanceDelete.self) { params, context in
      if registry.access.isAdmin(context.peer), try await registry.deleteQuarantined(params.instance) { return Empty() }
      let instance = try registry.find(params.instance, for: context.peer, atLeast: .owner)
      try refuseFile(instance)
      if params.logout == true { try await instance.signOutEverywhere() }
      try await registry.delete(instance)
      return Empty()
    }
  }

  static func shape(_ instance: HostedInstance, _ registry: InstanceRegistry, _ context: CallContext) -> Instance {
    instance.shape(
      secretSettings: registry.kind(instance.kind)?.secretSettings ?? [],
      isAdmin: registry.access.isAdmin(context.peer), conceals: registry.conceals(instance, from: context.peer))
  }

  private static func list(
    _ params: InstanceList.Params, _ registry: InstanceRegistry, _ context: CallContext
  ) -> InstanceList.Result {
    var found: [Instance] = []
    var bytes = 0
    for instance in registry.instances {
      if let after = params.after, instance.id <= after { continue }
      if let kind = params.kind, instance.kind != kind { continue }
      if let state = params.state, instance.state != state { continue }
      let labels = instance.currentDefinition.labels
      guard params.labels?.allSatisfy({ labels[$0.key] == $0.value }) ?? true,
        registry.role(of: context.peer, on: instance) != nil
      else { continue }
      let shape = shape(instance, registry, context)
      bytes += (try? JSONValueEncoder.encode(shape)).map { JSONWriter.bytes(of: $0).count } ?? 0
      if found.count == params.limit ?? 50 || (!found.isEmpty && bytes > EventHandlers.maximumReplyBytes) {
        return InstanceList.Result(instances: found, next: found.last?.instance)
      }
      found.append(shape)
    }
    return InstanceList.Result(instances: found)
  }

  private static func update(
    _ instance: HostedInstance, _ params: InstanceUpdate.Params, _ registry: InstanceRegistry, _ context: CallContext
  ) async throws {
    try refuseFile(instance)
    let role = registry.role(of: context.peer, on: instance) ?? .observe
    if params.settings != nil || params.access != nil || params.provider != nil, role < .owner {
      throw SDKError.accessDenied("Only the owner changes settings and access.", instance: instance.id)
    }
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
      let backend = registry.kind(current.kind)?.backendSettings ?? []
      let isOtherBackend = backend.contains { next.settings[$0] != current.settings[$0] }
      return (
        next, try registry.adapter(for: next, uuid: instance.uuid), try next.providerConfiguration(), isOtherBackend
      )
    }
  }

  private static func merged(_ labels: [String: String], _ patch: JSONObject) throws -> [String: String] {
    var result = labels
    for member in patch.members {
      switch member.value {
      case .null: result[member.key] = nil
      case .string(let text): result[member.key] = text
      default:
        throw RPCError.invalidParams("The member labels.\(member.key) must be a string or null.", member: "labels")
      }
    }
    try checkLabels(result)
    return result
  }

  private static func checkLabels(_ labels: [String: String]) throws {
    guard labels.count <= 64, labels.allSatisfy({ (1...63).contains($0.key.count) && $0.value.count <= 255 }) else {
      throw RPCError.invalidParams(
        "An instance has at most 64 labels, with names of 1 to 63 and values of up to 255 characters.",
        member: "labels")
    }
  }

  private static func refuseFile(_ instance: HostedInstance) throws {
    guard instance.currentDefinition.source == .file else { return }
    throw SDKError(
      .state, .ownedByFile, "\(instance.id) comes from a file; change the file and reload.", instance: instance.id)
  }
}
