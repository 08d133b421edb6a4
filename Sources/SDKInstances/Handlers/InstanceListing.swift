import JSONRPC
import SDKProtocol
import StateStore

/// A page of `instance.list`.
struct InstanceListing {
  private enum Listed {
    case hosted(HostedInstance)
    case quarantined(QuarantinedInstance)

    var id: InstanceID {
      switch self {
      case .hosted(let instance): instance.id
      case .quarantined(let instance): instance.id
      }
    }
  }

  private let params: InstanceList.Params
  private let registry: InstanceRegistry
  private let context: CallContext

  init(_ params: InstanceList.Params, _ registry: InstanceRegistry, _ context: CallContext) {
    self.params = params
    self.registry = registry
    self.context = context
  }

  /// The page that the params request.
  var result: InstanceList.Result {
    var page = ReplyPage<Instance>(limit: params.limit ?? 50)
    for entry in entries {
      if let after = params.after, entry.id <= after { continue }
      guard let shape = shape(entry) else { continue }
      let size = ReplyPage.bytes(of: shape)
      guard size <= ReplyBound.pageBytes ? page.add(shape, size: size) : page.add(shape.withoutDefinition) else {
        return InstanceList.Result(instances: page.elements, next: page.elements.last?.instance)
      }
    }
    return InstanceList.Result(instances: page.elements)
  }

  /// The instances that the caller may see from `after` on, sorted by id. Quarantined ones are included for admins only.
  private var entries: [Listed] {
    // Sorted last: most callers see few of many instances.
    var found = registry.unsortedInstances.filter { instance in
      params.after.map { instance.id > $0 } ?? true && registry.role(of: context.peer, on: instance) != nil
    }.map(Listed.hosted)
    if registry.access.isAdmin(context.peer) { found += registry.quarantined.map(Listed.quarantined) }
    return found.sorted { $0.id < $1.id }
  }

  /// Returns the description of an instance for the caller; `nil` if it is hidden or does not match the filters.
  private func shape(_ entry: Listed) -> Instance? {
    switch entry {
    case .hosted(let instance):
      if let kind = params.kind, instance.kind != kind { return nil }
      if let state = params.state, instance.state != state { return nil }
      guard let role = registry.role(of: context.peer, on: instance) else { return nil }
      let labels = instance.currentDefinition.labels
      guard params.labels?.allSatisfy({ labels[$0.key] == $0.value }) ?? true else { return nil }
      return InstanceHandlers.shape(instance, registry, role)
    case .quarantined(let instance):
      guard params.kind == nil, params.labels?.isEmpty ?? true, params.state ?? .quarantined == .quarantined else {
        return nil
      }
      return Instance(instance)
    }
  }
}

extension Instance {
  /// The description without the members that may be too large for a page, as in definitions of former versions. With
  /// it, the list can continue after such an instance.
  fileprivate var withoutDefinition: Instance {
    var short = self
    (short.labels, short.settings, short.provider, short.access) = ([:], [:], nil, AccessRules())
    return short
  }

  /// Creates the description of a quarantined instance, of which little more than the name is known.
  fileprivate init(_ quarantined: QuarantinedInstance) {
    let time = quarantined.createdAt ?? Timestamp(secondsSince1970: 0)
    self.init(
      instance: quarantined.id, kind: KindName("unknown"), source: .api, state: .quarantined, user: .none,
      labels: [:], settings: [:], provider: nil, bridge: Bridge(state: .closed), access: AccessRules(), expiresAt: nil,
      lastError: LastError(reason: .instanceQuarantined, message: quarantined.problem, at: time), createdAt: time,
      storageEpoch: "\(quarantined.uuid.description.prefix(8))-0")
  }
}
