import DelegateBridge
import OpenMetrics
import SDKInstances
import SDKProtocol
import StateStore
import Systemd

/// All that is counted in the daemon, and where it is counted.
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

  /// The result of `daemon.metrics`.
  func text() async -> DaemonMetrics.Result {
    DaemonMetrics.Result(contentType: OpenMetricsText.contentType, text: await registry.text())
  }

  /// Reads the log's loss whenever somebody asks.
  func collect(from writer: LogWriter) {
    registry.collect { [MetricSample(.logDropped, is: Double(writer.droppedCount))] }
  }

  /// Reads the domain whenever somebody asks.
  func collect(from domain: DomainReading) { registry.collect { await domain.samples } }
}
