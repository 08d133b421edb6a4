import JSONRPC
import SDKProtocol
import StateStore

/// A page of `instance.list`, or the numbers of the instances that it would list.
struct InstanceListing {
  private let params: InstanceList.Params
  private let registry: InstanceRegistry
  private let context: CallContext
  private let isAdmin: Bool

  /// The entries that are looked at while the registry is locked.
  private static let chunk = 256

  init(_ params: InstanceList.Params, _ registry: InstanceRegistry, _ context: CallContext) {
    self.params = params
    self.registry = registry
    self.context = context
    isAdmin = registry.access.isAdmin(context.peer)
  }

  /// The page, or the numbers, that the params request.
  var result: EncodedResult<InstanceList> {
    get throws {
      if params.counts == true { return try EncodedResult(InstanceList.Result(instances: [], counts: counts)) }
      let limit = params.limit ?? 50
      var page = ReplyPage<Instance>(limit: limit)
      var isComplete = true
      // One more than fits, which shows whether a page follows.
      visit(first: limit + 1) { entry, role in
        isComplete = page.add(shape(entry, role)) { $0.withoutDefinition }
        return isComplete
      }
      return try EncodedResult(
        InstanceList.Result(instances: [], next: isComplete ? nil : page.elements.last?.instance),
        replacing: "instances", with: page.text)
    }
  }

  /// The number of instances in each state.
  private var counts: [String: Int] {
    var counts: [InstanceState: Int] = [:]
    if isAdmin, params.after == nil, params.labels?.isEmpty ?? true {
      for (kind, states) in registry.states.counts where params.kind ?? kind == kind {
        counts.merge(states, uniquingKeysWith: +)
      }
      let quarantined = registry.quarantinedCount
      if params.kind == nil, quarantined > 0 { counts[.quarantined] = quarantined }
      if let state = params.state { counts = counts.filter { $0.key == state } }
    } else {
      for entry in own ?? registry.unsortedEntries
      where params.after.map({ $0 < entry.id }) ?? true && role(entry) != nil {
        let state = if case .hosted(let instance) = entry { instance.state } else { InstanceState.quarantined }
        counts[state, default: 0] += 1
      }
    }
    return Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }

  /// Calls `visitor` for the instances from `after` on, by id, until it returns `false`: those that the caller may see
  /// and that match the filters.
  ///
  /// - Parameter first: the number of entries that are looked at in the first turn.
  private func visit(first: Int, _ visitor: (InstanceRegistry.Entry, Role) -> Bool) {
    if let own {
      for entry in own.sorted(by: { $0.id < $1.id }) where params.after.map({ $0 < entry.id }) ?? true {
        guard let role = role(entry) else { continue }
        guard visitor(entry, role) else { return }
      }
      return
    }
    var after = params.after
    var count = min(first, Self.chunk)
    while true {
      let entries = registry.entries(after: after, atMost: count)
      for entry in entries {
        guard let role = role(entry) else { continue }
        guard visitor(entry, role) else { return }
      }
      guard entries.count == count else { return }
      after = entries.last?.id
      count = Self.chunk
    }
  }

  /// The entries on which the caller may have a role, if they are few among all.
  private var own: [InstanceRegistry.Entry]? {
    guard !isAdmin else { return nil }
    return registry.roles.candidates(for: context.peer, atMost: max(Self.chunk, registry.count / 8))
      .map { registry.look(at: $0) }
  }

  /// Returns the caller's role on an instance; `nil` if it is hidden or does not match the filters.
  private func role(_ entry: InstanceRegistry.Entry) -> Role? {
    switch entry {
    case .hosted(let instance):
      if let kind = params.kind, instance.kind != kind { return nil }
      if let state = params.state, instance.state != state { return nil }
      guard let role = registry.role(of: context.peer, on: instance) else { return nil }
      guard let labels = params.labels, !labels.isEmpty else { return role }
      return instance.currentDefinition.labels.includes(labels) ? role : nil
    case .quarantined:
      guard
        isAdmin, params.kind == nil, params.labels?.isEmpty ?? true, params.state ?? .quarantined == .quarantined
      else { return nil }
      return .admin
    }
  }

  private func shape(_ entry: InstanceRegistry.Entry, _ role: Role) -> Instance {
    switch entry {
    case .hosted(let instance): InstanceHandlers.shape(instance, registry, role)
    case .quarantined(let instance): Instance(instance)
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
