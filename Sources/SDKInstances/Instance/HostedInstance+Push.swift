import Concurrency
import JSONRPC
import Logging
public import SDKProtocol
import StateStore

extension HostedInstance {
  /// Registers the user's device for push at the vendor. A registration with the same address is replaced.
  ///
  /// - Returns: the daemon's id of the registration.
  public func registerPush(service: String?, _ endpoint: PushEndpoint) async throws -> String {
    let address = endpoint.address
    guard (1...4096).contains(address.reveal().utf8.count) else {
      throw RPCError.invalidParams("The member endpoint.address must have 1 to 4096 bytes.", member: "endpoint.address")
    }
    let name = try actor.resolve(service)
    try await actor.core.adapter.registrar.check(endpoint)
    try await awaitAcceptedLogin(name, within: WaitLimit(nil))
    _ = try await token(.any, of: name, timeout: nil)
    // Runs to its end if the caller is cancelled, so that the vendor has no registration that is not stored.
    return try await registering { try await register(endpoint, on: name) }
  }

  /// Makes a change of the registrations at the vendor and here. Where a service has one registration only, after the
  /// change in progress, so that the vendor and the daemon keep the same one.
  private func registering<T: Sendable>(
    _ change: @escaping @Sendable @concurrent () async throws -> T
  ) async throws -> T {
    let keepsOne = await actor.core.adapter.capabilities.push?.pushRules.keepsOne == true
    guard keepsOne else { return try await runToEnd(change) }
    return try await runToEnd {
      await actor.registering.lock()
      defer { actor.registering.unlock() }
      return try await change()
    }
  }

  private func register(_ endpoint: PushEndpoint, on name: String?) async throws -> String {
    let present = try await present(name)
    let registrar = try present.adapter.registrar
    var (push, former) = try present.core.registration(
      of: endpoint, on: present.state, rules: registrar.pushRules, newId: "p-\(RandomUUID.make())",
      environment.clock.now())
    if registrar.pushRules.skipsKnown, former.contains(where: { $0.isSame(as: push) }) { return push.id }
    let asked = push
    let done = try await replaying(on: name) { identity, connection throws(SDKError) in
      try await registrar.register(asked, of: identity, on: connection)
    }
    push.vendorId = done.value
    // After the registration: if the vendor refuses the new one, it still has the former.
    if !registrar.pushRules.overwrites {
      let others = former.filter { !$0.isSameDevice(as: push) }
      let kept = await unregister(others, of: done.identity, by: registrar)
      former.removeAll { kept.contains($0.id) }
      // The vendor has another device with this address.
      if kept.contains(push.id) { push.id = "p-\(RandomUUID.make())" }
    }
    do {
      let late = try await actor.change(name) { [push, former] core, _ in
        try core.keep(push, replacing: former, epoch: done.epoch)
      }.value
      _ = await unregister(late.filter { !$0.isSameDevice(as: push) }, of: done.identity, by: registrar)
    } catch {
      // Not stored, for example because the user has changed meanwhile: it is removed at the vendor again, unless a
      // registration that is stored stands for the same device.
      let stored = await actor.core.ownPushes(of: push.service)
      let isNeeded = stored.contains { registrar.pushRules.overwrites || $0.isSameDevice(as: push) }
      if !isNeeded {
        environment.operations.startBackground { [push] in
          try? await registrar.unregister(push, of: done.identity, on: nil)
        }
      }
      throw error
    }
    return push.id
  }

  /// Unregisters replaced devices at the vendor. Logs a warning for each one that could not be removed.
  ///
  /// - Returns: the ids of those that the vendor still has because it was unreachable. They stay registered here, so
  ///   that the next registration or the logout removes them.
  private func unregister(
    _ replaced: [PushRecord], of identity: IdentityRecord, by registrar: any RegistersForPush
  ) async -> Set<String> {
    var kept: Set<String> = []
    for push in replaced {
      do throws(SDKError) {
        try await registrar.unregister(push, of: identity, on: nil)
      } catch {
        guard error.reason != .notFound else { continue }
        if error.origin == .unreachable { kept.insert(push.id) }
        actor.logger.warning(
          "A push registration that another one replaces could not be removed at the vendor: \(error.message)",
          metadata: ["reason": "\(error.reason)"])
      }
    }
    return kept
  }

  /// Removes a push registration, here and at the vendor. An orphaned one, whose user was wiped, is removed here only.
  public func unregisterPush(_ pushId: String) async throws {
    try await registering { try await unregister(pushId) }
  }

  private func unregister(_ pushId: String) async throws {
    let core = await actor.core
    try core.checkAlive()
    guard let push = core.pushes.first(where: { $0.id == pushId }) else {
      throw SDKError(
        .missing, .notFound, "There is no push registration of this id; push.list shows them.", instance: id,
        member: "id")
    }
    if !push.orphaned, core[push.service] != nil {
      let registrar = try core.adapter.registrar
      do {
        _ = try await replaying(on: push.service) { identity, connection throws(SDKError) in
          try await registrar.unregister(push, of: identity, on: connection)
        }
      } catch let error as SDKError where error.reason == .notFound {
        // The vendor has no such registration any more.
      }
    }
    try await actor.change(push.service) { core, _ in
      try core.checkAlive()
      return core.remove(push)
    }
  }

  /// Returns all push registrations, orphaned ones included, oldest first.
  ///
  /// - Throws: also `locked`, if they should have been wiped.
  public func pushRecords() async throws -> [PushRecord] {
    let core = await actor.core
    try core.checkAlive()
    try core.checkWiped()
    return core.pushes.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }
}

extension SDKAdapter {
  /// The adapter's capability to register devices for push.
  fileprivate var registrar: any RegistersForPush {
    get throws(SDKError) {
      if let push = capabilities.push { return push }
      throw SDKError(
        .state, .wrongKind, "This kind of SDK has no public contract for push; register with the vendor's app.")
    }
  }
}
