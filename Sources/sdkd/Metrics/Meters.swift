import DelegateBridge
import OpenMetrics
import SDKInstances
import SDKProtocol
import StateStore
import Systemd

/// All meters of the daemon and the registry of their metrics.
struct Meters: Sendable {
  let registry: MetricsRegistry
  let calls: CallMeter
  let providers: ProviderMeter
  let renewals: RenewalMeter
  let store: StoreMeter
  let connections: ConnectionMeter

  init() {
    registry = MetricsRegistry(MetricFamily.all)
    calls = CallMeter(registry: registry)
    providers = ProviderMeter(registry: registry)
    renewals = RenewalMeter(registry: registry)
    store = StoreMeter(registry: registry)
    connections = ConnectionMeter(registry: registry)
    registry.collect { [weak registry] in
      ProcessReading.samples + [
        MetricSample(.build, [SDKVersion.program, SDKVersion.api], is: 1),
        MetricSample(.metricsRejected, is: registry?.rejected ?? 0),
      ]
    }
  }

  /// Returns the result of `daemon.metrics`.
  func text() async -> DaemonMetrics.Result {
    DaemonMetrics.Result(contentType: MetricsFormat.openMetrics.contentType, text: await registry.text())
  }

  /// Adds the numbers of dropped log and audit records, read at each request for metrics.
  func collect(from writer: LogWriter) {
    registry.collect {
      [
        MetricSample(.logDropped, is: Double(writer.droppedCount)),
        MetricSample(.auditLost, is: Double(writer.lostAudit.count)),
      ]
    }
  }

  /// Adds the limits of the configuration, read at each request for metrics.
  func collectLimits(_ configuration: @escaping @Sendable () -> Configuration) {
    registry.collect {
      let configuration = configuration()
      return Configuration.tables.flatMap(\.settings).filter(\.isLimit).compactMap { setting in
        setting.number.map { MetricSample(.limit, [setting.name], is: $0(configuration)) }
      }
    }
  }

  /// Adds the number of calls in progress, read at each request for metrics.
  func collect(from gateway: Gateway) {
    registry.collect { [MetricSample(.callsInFlight, is: gateway.callsInProgress)] }
  }

  /// Adds the checks of `daemon.health` and the time of the newest backup, read at each request for metrics.
  func collect(from health: HealthReading) { registry.collect { health.samples } }

  /// Adds the metrics of instances, providers, the store and subscriptions, read at each request for metrics.
  func collect(from domain: DomainReading) { registry.collect { await domain.samples } }
}
