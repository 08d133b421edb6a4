import OpenMetrics
import SDKProtocol

/// The checks of `daemon.health` and the age of the backups as metrics, read at each request for metrics.
struct HealthReading: Sendable {
  let checks: @Sendable () -> [DaemonHealth.Check]
  /// Returns the time of the newest backup of the schedule.
  let lastBackup: @Sendable () -> Timestamp?

  var samples: [MetricSample] {
    // Several checks may have one name. The worst of them counts.
    let statuses = Dictionary(checks().map { ($0.name, $0.status) }, uniquingKeysWith: max)
    let health = statuses.map { MetricSample(.health, [$0.key], is: Self.level($0.value)) }
    return health + (lastBackup().map { [MetricSample(.backupTime, is: $0.secondsSince1970)] } ?? [])
  }

  private static func level(_ status: DaemonHealth.Status) -> Int {
    switch status {
    case .ok: 0
    case .degraded: 1
    case .failing: 2
    }
  }
}
