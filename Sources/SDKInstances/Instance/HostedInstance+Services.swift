import DelegateBridge
import JSONRPC
import SDKProtocol
import Synchronization

extension HostedInstance {
  /// Returns the lane of a service; `nil` if the instance has no such service.
  func lane(_ service: String?) -> Lane? { lanes.first { $0.service == service } }

  /// Returns the lane of the service that a call means.
  func resolved(_ service: String?) throws -> Lane {
    try checkAlive()
    guard let lane = lane(try resolve(service)) else { throw SDKError.instanceNotFound(id) }
    return lane
  }

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

  /// Returns a lane's renewal strategies: by the SDK itself, through the bridge, both, or none.
  func means(_ lane: Lane) -> RenewalMeans {
    RenewalMeans(
      itself: adapter.capabilities.renewal?.renewsItself(lane.identity) ?? false,
      bridge: lane.supply != nil || (hasOwner(lane) && adapter.mayAsk(for: lane.identity)))
  }

  /// Whether there is an owner to send requests to: a token provider or a delegate.
  func hasOwner(_ lane: Lane) -> Bool {
    provider != nil || environment.bridge.hasDelegate(bridgeKey(lane.service))
  }
}
