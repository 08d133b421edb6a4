import JSONRPC
import SDKProtocol

extension CommandContext {
  /// Warns of what does not fit this machine in instances that were created or changed: users, groups and units in rules, and provider
  /// units without a socket. For a daemon on another machine nothing can be said.
  func warn(of instances: [JSON], _ global: GlobalOptions) async throws {
    guard remote == nil, let place = try? DaemonPlace(global.location) else { return }
    var findings = RightsCheck.unknownNames(instances, place, until: .now + .seconds(2))
    let units = instances.compactMap { instance in
      instance["provider"]?["unit"]?.stringValue.map { (id: instance["instance"]?.stringValue ?? "?", unit: $0) }
    }
    if !units.isEmpty, let info = try? await ask(DaemonInfo.self, Empty()) {
      let place = place.adding(info)
      findings += units.compactMap { ProviderCheck.missingSocket(of: $0.unit, id: $0.id, place) }
    }
    for finding in findings.prefix(20) {
      try errors.wrapped(line: "warning: \(finding.message)" + (finding.advice.map { " → \($0)" } ?? ""))
    }
  }
}
