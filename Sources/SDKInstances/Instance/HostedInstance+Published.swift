import JSONRPC
public import SDKProtocol
import Synchronization

extension HostedInstance {
  /// Returns the state of the service that a call means.
  func resolved(_ service: String?) throws -> ServiceState { try core.existing(try resolve(service)) }

  /// Returns the service that a call means: the one it names, else the only one, else the only one that is set up.
  ///
  /// - Throws: `invalidParams` for an unknown name, or without a name if several services remain.
  nonisolated func resolve(_ service: String?) throws -> String? {
    let services = published.withLock { $0.services }
    let names = services.keys.sorted()
    if let service {
      if services[service] != nil { return service }
      guard !names.isEmpty else {
        throw RPCError.invalidParams("This kind of instance has no services; leave service out.", member: "service")
      }
      throw RPCError.invalidParams(
        "\(id) has no service of this name; it has \(names.joined(separator: ", ")).", member: "service",
        nearest: service.nearest(in: names))
    }
    if names.count <= 1 { return names.first }
    let known = names.filter { services[$0]?.isKnown == true }
    if known.count == 1 { return known.first }
    throw RPCError.invalidParams(
      "\(id) has several services; give service as one of \(names.joined(separator: ", ")).", member: "service")
  }

  /// Throws the error of a missing instance if this one is deleted.
  func checkAlive() throws {
    if core.isDeleted { throw SDKError.instanceNotFound(id) }
  }

  // MARK: Published state

  /// Publishes the present state to readers.
  func publish() {
    var next = Published(
      definition: core.definition, storageEpoch: core.clientStorageEpoch,
      pending: core.deliveries.map { Instance.Pending($0) })
    for state in core.services {
      let identity = state.identity
      let token =
        state.machine.mayHandOut && core.adapter.capabilities.bans?.withheld(identity) == nil
        ? identity.credential : nil
      next[state.service] = PublishedLane(
        state: state.machine.state, user: state.visibleUser, expiresAt: identity.credential?.expiresAt,
        lastError: identity.lastError, degraded: identity.degraded, isKnown: !identity.isNobody,
        token: token.map { PublishedToken($0, http: core.adapter.http(for: $0, of: identity)) })
    }
    let shown = next
    published.withLock { $0 = shown }
  }

  /// The definition in force.
  public nonisolated var currentDefinition: Definition { published.withLock { $0.definition } }

  /// The rules in force for access to the instance.
  nonisolated var currentAccess: InstanceAccess { published.withLock { $0.definition.instanceAccess } }

  /// The state of the instance; of several services, of the one that is signed in furthest.
  public nonisolated var state: InstanceState { published.withLock { $0.main.state } }

  /// Whether a user of any service is no longer signed in, which setting the clock back may undo.
  nonisolated var mayBeRevived: Bool {
    published.withLock {
      ([$0.whole].compactMap { $0 } + $0.services.values).contains { $0.state == .reauthNeeded || $0.degraded != nil }
    }
  }

  /// The user of the instance; of several services, of the one that is signed in furthest.
  public nonisolated var user: User { published.withLock { $0.main.user } }

  /// Returns the user of a service.
  public nonisolated func user(of service: String?) throws -> User {
    let shown = published.withLock { $0 }
    return (shown[try resolve(service)] ?? shown.main).user
  }

  /// Returns the answer of `token.get`; `nil` if the kind has services, or if the cached credential does not live for
  /// `minTTL` seconds.
  public nonisolated func cachedAnswer(minTTL: Double, http: Bool) -> (text: [UInt8], tokenId: TokenID)? {
    guard let token = published.withLock({ $0.whole?.token }),
      let text = token.answer(minTTL: minTTL, http: http, now: vendorClock.now)
    else { return nil }
    return (text, token.tokenId)
  }
}
