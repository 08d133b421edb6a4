import DelegateBridge
import OpenMetrics
import SDKInstances
import SDKProtocol
import StateStore

/// The metrics of instances, providers, the store and subscriptions, read at each request for metrics.
struct DomainReading: Sendable {
  let registry: InstanceRegistry
  let bridge: ProviderBridge
  let delegates: Delegates
  let events: EventHub
  let database: SQLiteStateStore?

  var samples: [MetricSample] {
    get async { await instances + providers + store + subscriptions }
  }

  private var instances: [MetricSample] {
    struct Key: Hashable {
      let kind: String
      let state: InstanceState
    }
    var counts: [Key: Int] = [:]
    for kind in registry.kindNames {
      // The kind of a quarantined instance is unknown, so those have a sample of their own.
      for state in InstanceState.allCases where state != .quarantined { counts[Key(kind: kind, state: state)] = 0 }
    }
    var failingEnd: Timestamp?
    for instance in registry.instances {
      counts[Key(kind: instance.kind.name, state: instance.state), default: 0] += 1
      if let end = instance.failingEnd { failingEnd = min(end, failingEnd ?? end) }
    }
    let ends = failingEnd.map { [MetricSample(.failingEnd, is: $0.secondsSince1970)] } ?? []
    return counts.map { MetricSample(.instances, [$0.key.kind, $0.key.state.rawValue], is: $0.value) } + ends + [
      MetricSample(.quarantined, is: registry.quarantined.count),
      MetricSample(.delegates, is: delegates.count),
    ]
  }

  private var providers: [MetricSample] {
    let standing = bridge.standing
    let states: [MetricSample] = [
      MetricSample(.providers, ["running"], is: standing.running),
      MetricSample(.providers, ["long"], is: standing.long),
      MetricSample(.providers, ["waiting"], is: standing.waiting),
    ]
    return states
      + Instance.Bridge.BreakerState.allCases.map {
        MetricSample(.breakers, [$0.rawValue], is: standing.breakers[$0] ?? 0)
      }
  }

  private var subscriptions: [MetricSample] {
    get async {
      let standing = await events.standing
      return [
        MetricSample(.subscriptions, is: standing.subscriptions),
        MetricSample(.pausedSubscriptions, is: standing.paused),
        MetricSample(.eventLag, is: Int(clamping: standing.lag)),
        MetricSample(.eventGaps, is: standing.gaps),
      ]
    }
  }

  private var store: [MetricSample] {
    database.map { [MetricSample(.changesWaiting, is: $0.waitingCount)] } ?? []
  }
}

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
