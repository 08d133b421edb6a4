import DelegateBridge
import JSONRPC
import SDKProtocol
import Synchronization

extension HostedInstance {
  /// The lane of a service, if it is still there.
  func lane(_ service: String?) -> Lane? { lanes.first { $0.service == service } }

  /// The lane of a service that a call named.
  func resolved(_ service: String?) throws -> Lane {
    try checkAlive()
    guard let lane = lane(try resolve(service)) else { throw SDKError.instanceNotFound(id) }
    return lane
  }

  /// The service that a call means: the one it names, else the only one there is, else the only one that is set up.
  ///
  /// - Throws: `invalidParams` for an unknown name, or for none where there are several.
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

  /// Where a new credential for a lane could come from.
  func means(_ lane: Lane) -> RenewalMeans {
    RenewalMeans(
      itself: adapter.renewsItself(lane.identity),
      bridge: lane.supply != nil || (hasOwner(lane) && adapter.mayAsk(for: lane.identity)))
  }

  /// Whether there is somebody to ask.
  func hasOwner(_ lane: Lane) -> Bool {
    provider != nil || environment.bridge.hasDelegate(bridgeKey(lane.service))
  }
}
