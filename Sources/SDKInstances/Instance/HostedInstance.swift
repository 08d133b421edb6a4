import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// The interface of an instance for handlers and kinds. `InstanceActor` holds the state and changes it.
public struct HostedInstance: Sendable {
  let actor: InstanceActor

  /// The permanent identifier of the instance.
  public var uuid: InstanceUUID { actor.uuid }
  /// The name of the instance.
  public var id: InstanceID { actor.id }
  /// The kind of SDK.
  public var kind: KindName { actor.kind }
  /// The time at which the instance was created.
  public var createdAt: Timestamp { actor.createdAt }
  /// The vendor's clock, for checks by the kind itself.
  public var wallClock: WallClock { actor.vendorClock.wallClock }
  var environment: InstanceEnvironment { actor.environment }
  /// The concealment of the instance's users, for callers who may not see their external ids.
  var concealment: Concealment { Concealment(environment.store.identityDigests, of: uuid) }

  /// Creates an instance from its stored form.
  init(
    stored: StoredInstance, definition: Definition, adapter: any SDKAdapter, provider: ProviderConfiguration?,
    environment: InstanceEnvironment
  ) throws {
    actor = try InstanceActor(
      stored: stored, definition: definition, adapter: adapter, provider: provider, environment: environment)
  }

  // MARK: State for readers

  private var seen: Published { actor.published.withLock { $0 } }

  /// The current definition.
  public var currentDefinition: Definition { actor.published.withLock { $0.definition } }

  /// The current rules for access to the instance.
  var currentAccess: InstanceAccess { actor.published.withLock { $0.definition.instanceAccess } }

  /// The state of the instance. Of several services, it is the state of the one closest to being signed in.
  public var state: InstanceState { actor.published.withLock { $0.main.state } }

  /// The user of the instance. Of several services, it is the user of the one closest to being signed in.
  public var user: User { actor.published.withLock { $0.main.user } }

  /// Returns the user of a service.
  public func user(of service: String?) throws -> User {
    let seen = seen
    return (seen[try seen.resolve(service, of: id)] ?? seen.main).user
  }

  /// Whether any service needs a new login, or has replaced its user by a fallback. If the clock is set back, the
  /// credential may be valid again.
  var mayBeRevived: Bool { actor.published.withLock { $0.mayBeRevived } }

  /// Returns the answer of `token.get`; `nil` if no cached credential meets the demand, or if the call does not say
  /// which service it is about.
  func cachedAnswer(_ demand: TokenDemand, of service: String?) -> (text: [UInt8], tokenId: TokenID)? {
    guard let token = actor.published.withLock({ $0.token(of: service) }), !token.isDisputed(actor.vendorClock),
      let text = token.answer(demand, now: actor.vendorClock.now)
    else { return nil }
    return (text, token.tokenId)
  }

  /// The earliest expiry of a credential whose last renewal failed; `nil` if there is none.
  public var failingEnd: Timestamp? {
    let seen = seen
    let failing = ([seen.whole].compactMap { $0 } + seen.services.values).filter { service in
      service.lastError != nil && (service.state == .authenticated || service.state == .refreshing)
    }
    return failing.compactMap(\.expiresAt).min()
  }

  /// Returns the description of the instance for `instance.get` and `instance.list`.
  ///
  /// - Parameters:
  ///   - isAdmin: whether the provider may be shown.
  ///   - conceals: whether an external id that is a secret is replaced by its digest.
  public func shape(secretSettings: Set<String>, isAdmin: Bool, conceals: Bool) -> Instance {
    let seen = seen
    var settings = seen.definition.settings
    for name in secretSettings where settings[name] != nil { settings[name] = "‹redacted›" }
    let main = seen.main
    let services =
      seen.whole != nil
      ? nil
      : seen.services.mapValues { service in
        Instance.Service(
          state: service.state, user: conceals ? concealment.user(service.user) : service.user,
          expiresAt: service.expiresAt)
      }
    return Instance(
      instance: id, kind: kind, source: seen.definition.source, state: main.state,
      user: conceals ? concealment.user(main.user) : main.user, services: services,
      labels: seen.definition.labels, settings: settings,
      provider: isAdmin ? Self.redacted(seen.definition.provider) : nil,
      bridge: bridgeStatus(services?.keys.sorted() ?? []), access: seen.definition.access, expiresAt: main.expiresAt,
      lastError: main.lastError, degraded: main.degraded, signIn: main.isPrepared ? "onUse" : nil,
      pending: seen.pending.isEmpty ? nil : seen.pending, createdAt: createdAt, storageEpoch: seen.storageEpoch)
  }

  /// Returns the bridge's status. Of several services it is the first whose breaker is not closed, else the first with
  /// a `lastExit`.
  private func bridgeStatus(_ services: [String]) -> Instance.Bridge {
    func status(_ service: String?) -> Instance.Bridge { environment.bridge.status(of: actor.bridgeKey(service)) }
    guard !services.isEmpty else { return status(nil) }
    let states = services.map { status($0) }
    return states.first { $0.state != .closed } ?? states.first { $0.lastExit != nil } ?? states[0]
  }

  /// Returns the provider with redacted environment values, because they may be secrets. The names stay.
  private static func redacted(_ provider: JSONObject?) -> JSONObject? {
    guard var provider, let environment = provider["environment"]?.objectValue else { return provider }
    provider["environment"] = .object(JSONObject(environment.keys.map { ($0, "‹redacted›") }))
    return provider
  }

  // MARK: Changes

  /// Applies a changed definition. If it names another backend, the identity is wiped. Changed settings wait for a
  /// logout in progress, because they would end its connection or its user.
  ///
  /// - Throws: `timeout` when the logout has not ended within the instance's `timeout`; the errors of `change`;
  ///   `storeUnavailable`. The last is also thrown if the definition is in force but the former user's key could not be
  ///   removed.
  func redefine(_ change: @Sendable (Definition) throws -> InstanceCore.NewDefinition) async throws {
    try await actor.redefine(change)
  }

  /// Destroys everything that the instance stores. Activities in progress fail with `SDKError.instanceNotFound`.
  ///
  /// - Parameter beforeEvents: called when the instance is deleted, before the event that reports it is emitted.
  /// - Returns: the error of cleanup that is left to be done on the disk, such as a key that could not be removed. The
  ///   instance is deleted all the same.
  @discardableResult
  func delete(beforeEvents: @Sendable () -> Void = {}) async throws -> SDKError? {
    try await actor.delete(beforeEvents: beforeEvents)
  }

  /// Emits an event that changes no state of the instance, such as a breaker that opened.
  private func announce(_ type: EventType) async {
    await actor.step(nil) { core, _ in
      core.isDeleted ? Step() : Step(change: core.unconditionalChange(events: [.init(type)]))
    }
  }

  /// Logs that the bridge's breaker has opened or closed, and emits the event.
  public func breakerChanged(isOpen: Bool) async {
    let type = isOpen ? EventType.breakerOpened : .breakerClosed
    actor.logger.log(
      level: isOpen ? .warning : .info,
      isOpen ? "The token provider fails; it is left alone for a while." : "The token provider answers again.",
      metadata: .init(type))
    await announce(type)
  }

  /// Emits that a delegate was attached or detached, and sets the deadline again, since a delegate may be available
  /// now.
  func delegateChanged(isAttached: Bool) async {
    await announce(isAttached ? .delegateAttached : .delegateDetached)
    await actor.replan()
  }

  /// Answers the watchdog's health probe. Returns when no change is in progress, when one waits for the store, which
  /// has a probe of its own, or when the task is cancelled.
  public func answer() async { await actor.answer() }

  #if DEBUG
    /// Runs `body` on the instance's actor.
    public func run(_ body: @Sendable () -> Void) async { await actor.run(body) }
  #endif
}

extension HostedInstance {
  /// Returns the table of the instance's access rules. It is made anew if the rules have changed since.
  ///
  /// Names that have got other numbers since are not noticed here: `makeRoles` is called then.
  func roles(_ names: any NameDirectory) -> RoleTable {
    // Compared while locked, because a copy would cost more. Arrays with the same storage are equal without a comparison
    // of their elements.
    if let made = actor.roles.withLock({ $0.table }),
      actor.published.withLock({ made.access.grantsLike($0.definition) })
    {
      return made
    }
    return makeRoles(names)
  }

  /// Makes the table of the instance's access rules from the present rules and numbers.
  @discardableResult
  func makeRoles(_ names: any NameDirectory) -> RoleTable {
    // Read while locked: a table of older rules never replaces one of newer rules.
    actor.roles.withLock { roles in
      let made = RoleTable(currentAccess, names: names)
      if roles.isListed { environment.roles.move(id, from: roles.table, to: made) }
      roles.table = made
      return made
    }
  }
}
