import Concurrency
import JSONRPC
import Logging
public import SDKProtocol
import StateStore

extension HostedInstance {
  /// Registers the user's device for push at the vendor. A registration with the same address is replaced.
  ///
  /// - Returns: the daemon's id of the registration.
  public func registerPush(
    service: String?, _ endpoint: PushEndpoint
  ) async throws -> String {
    let address = endpoint.address
    guard (1...4096).contains(address.reveal().utf8.count) else {
      throw RPCError.invalidParams("The member endpoint.address must have 1 to 4096 bytes.", member: "endpoint.address")
    }
    let name = try resolved(service).service
    _ = try await token(service: name, minTTL: 0, timeout: nil, http: false)
    let lane = try resolved(name)
    let identity = lane.identity
    let registrar = try registrar
    let rules = registrar.pushRules
    let former = pushes.filter {
      $0.service == name && !$0.orphaned && (rules.keepsOne || $0.address == address)
    }
    var push = PushRecord(
      id: former.first { $0.address == address }?.id ?? "p-\(RandomUUID.make())", service: name, address: address,
      type: endpoint.type.rawValue, locale: endpoint.locale, user: shown(identity.user),
      subject: identity.subject, createdAt: now)
    let asked = push
    let done = try await replaying(on: name) { identity, connection throws(SDKError) in
      try await registrar.register(asked, of: identity, on: connection)
    }
    push.vendorId = done.value
    // After the registration: if the vendor refuses the new one, it still has the former.
    if !rules.overwrites { await unregister(former.filter { !$0.isSameDevice(as: push) }, of: done.identity) }
    try await keep(push, replacing: former, epoch: done.epoch, of: done.identity)
    return push.id
  }

  /// The part of the adapter that registers for push.
  private var registrar: any RegistersForPush {
    get throws(SDKError) {
      if let push = adapter.capabilities.push { return push }
      throw SDKError(
        .state, .wrongKind, "This kind of SDK has no public contract for push; register with the vendor's app.")
    }
  }

  /// Unregisters replaced devices at the vendor. Logs a warning for each one that could not be removed.
  private func unregister(_ replaced: [PushRecord], of identity: IdentityRecord) async {
    guard let registrar = adapter.capabilities.push else { return }
    for push in replaced {
      do throws(SDKError) {
        try await registrar.unregister(push, of: identity, on: nil)
      } catch {
        guard error.reason != .notFound else { continue }
        logger.warning(
          "A push registration that another one replaces could not be removed at the vendor: \(error.message)",
          metadata: ["reason": "\(error.reason)"])
      }
    }
  }

  private func keep(
    _ push: PushRecord, replacing former: [PushRecord], epoch: UInt64, of identity: IdentityRecord
  ) async throws {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted, let lane = lane(push.service), lane.machine.epoch == epoch else {
      // The user has changed meanwhile, so the new registration is removed at the vendor again.
      if let registrar = adapter.capabilities.push {
        environment.operations.startBackground { try? await registrar.unregister(push, of: identity, on: nil) }
      }
      throw SDKError(.state, .superseded, "The user changed while the device was registered.", instance: id)
    }
    var change = newChange(parts: [.putPush(id: push.id, try JSONValueEncoder.encode(push))])
    for old in former where old.id != push.id {
      change.parts.append(.deletePush(id: old.id))
      change.events.append(.init(.pushUnregistered, service: push.service, data: old.eventData))
    }
    change.events.append(.init(.pushRegistered, service: push.service, data: push.eventData))
    let done = try await committed(change)
    pushes.removeAll { old in old.id == push.id || former.contains { $0.id == old.id } }
    pushes.append(push)
    environment.events.append(done.events)
  }

  /// Removes a registration, also at the vendor unless it is orphaned.
  public func unregisterPush(_ pushId: String) async throws {
    try checkAlive()
    guard let push = pushes.first(where: { $0.id == pushId }) else {
      throw SDKError(
        .missing, .notFound, "There is no push registration of this id; push.list shows them.", instance: id,
        member: "id")
    }
    if !push.orphaned, lane(push.service) != nil {
      let registrar = try registrar
      do {
        _ = try await replaying(on: push.service) { identity, connection throws(SDKError) in
          try await registrar.unregister(push, of: identity, on: connection)
        }
      } catch let error as SDKError where error.reason == .notFound {
        // The vendor has no such registration any more.
      }
    }
    await changing.lock()
    defer { changing.unlock() }
    try checkAlive()
    guard pushes.contains(where: { $0.id == pushId }) else { return }
    let done = try await committed(
      InstanceChange(
        uuid: uuid, id: id, kind: kind, parts: [.deletePush(id: pushId)],
        events: [.init(.pushUnregistered, service: push.service, data: push.eventData)]))
    pushes.removeAll { $0.id == pushId }
    environment.events.append(done.events)
  }

  /// Returns all push registrations, orphaned ones included, oldest first.
  public func pushRecords() throws -> [PushRecord] {
    try checkAlive()
    return pushes.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  /// Runs work at the vendor to its end, even if the caller is cancelled, and returns its result.
  func operation<T: Sendable>(
    _ work: @escaping @Sendable @concurrent () async throws(SDKError) -> T
  ) async throws -> T {
    let outcome = Promise<T>()
    environment.operations.start {
      do throws(SDKError) {
        outcome.resolve(.success(try await work()))
      } catch {
        outcome.resolve(.failure(error))
      }
    }
    do {
      return try await outcome.value()
    } catch let error as SDKError {
      throw error.about(id)
    }
  }
}
