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
    let registrar = try registrar
    var (push, former) = core.registration(
      of: endpoint, on: try resolved(name), rules: registrar.pushRules, newId: "p-\(RandomUUID.make())",
      environment.clock.now())
    let asked = push
    let done = try await replaying(on: name) { identity, connection throws(SDKError) in
      try await registrar.register(asked, of: identity, on: connection)
    }
    push.vendorId = done.value
    // After the registration: if the vendor refuses the new one, it still has the former.
    if !registrar.pushRules.overwrites {
      await unregister(former.filter { !$0.isSameDevice(as: push) }, of: done.identity)
    }
    do {
      try await change(name) { [push] core, _ in (try core.keep(push, replacing: former, epoch: done.epoch), ()) }
    } catch let error as SDKError where error.reason == .superseded {
      // The user has changed meanwhile, so the new registration is removed at the vendor again.
      environment.operations.startBackground { [push] in
        try? await registrar.unregister(push, of: done.identity, on: nil)
      }
      throw error
    }
    return push.id
  }

  /// The part of the adapter that registers for push.
  private var registrar: any RegistersForPush {
    get throws(SDKError) {
      if let push = core.adapter.capabilities.push { return push }
      throw SDKError(
        .state, .wrongKind, "This kind of SDK has no public contract for push; register with the vendor's app.")
    }
  }

  /// Unregisters replaced devices at the vendor. Logs a warning for each one that could not be removed.
  private func unregister(_ replaced: [PushRecord], of identity: IdentityRecord) async {
    guard let registrar = core.adapter.capabilities.push else { return }
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

  /// Removes a registration, also at the vendor unless it is orphaned.
  public func unregisterPush(_ pushId: String) async throws {
    try checkAlive()
    guard let push = core.pushes.first(where: { $0.id == pushId }) else {
      throw SDKError(
        .missing, .notFound, "There is no push registration of this id; push.list shows them.", instance: id,
        member: "id")
    }
    if !push.orphaned, core[push.service] != nil {
      let registrar = try registrar
      do {
        _ = try await replaying(on: push.service) { identity, connection throws(SDKError) in
          try await registrar.unregister(push, of: identity, on: connection)
        }
      } catch let error as SDKError where error.reason == .notFound {
        // The vendor has no such registration any more.
      }
    }
    try await change(push.service) { core, _ in
      if core.isDeleted { throw SDKError.instanceNotFound(id) }
      return (core.remove(push), ())
    }
  }

  /// Returns all push registrations, orphaned ones included, oldest first.
  public func pushRecords() throws -> [PushRecord] {
    try checkAlive()
    return core.pushes.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }
}
