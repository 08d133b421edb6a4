import Logging
import NIOPosix
import OpenMetrics
import SDKInstances
import SDKProtocol
import ServiceLifecycle
import Synchronization

/// A service that serves the metrics over HTTP if the configuration wants it. A failure is reported, and the daemon
/// runs without.
final class MetricsService: Service {
  private struct Serving {
    var address: ListenAddress?
    var listener: MetricsListener?
    var problem: String?
  }

  private let state = Mutex(Serving())
  private let group: MultiThreadedEventLoopGroup
  private let source: MetricsListener.Source
  private let logger: Logger

  init(group: MultiThreadedEventLoopGroup, operations: Operations, meters: Meters, logger: Logger) {
    self.group = group
    self.logger = logger
    source = { format, deliver in
      operations.start { deliver(await meters.registry.text(format)) }
    }
  }

  /// Serves the metrics at this address from now on, and nowhere else. On failure the former listener stays. Calls must
  /// not overlap.
  ///
  /// - Returns: the reason for a failure, or `nil`.
  func use(_ address: ListenAddress?) async -> String? {
    let former = state.withLock { ($0.address, $0.listener) }
    if former.0 == address {
      state.withLock { $0.problem = nil }
      return nil
    }
    var listener: MetricsListener?
    if let address {
      do throws(MetricsListener.Failure) {
        listener = try await MetricsListener.open(address, on: group, source: source)
      } catch {
        logger.error("\(error)")
        state.withLock { $0.problem = "\(error)" }
        return "\(error)"
      }
      logger.info("Metrics are served at \(address).")
    }
    state.withLock { $0 = Serving(address: address, listener: listener) }
    await former.1?.close()
    return nil
  }

  /// The check for `daemon.health`; empty while metrics are not served and none failed.
  var checks: [DaemonHealth.Check] {
    let state = state.withLock { $0 }
    if let problem = state.problem { return [.init(name: "metrics", status: .degraded, detail: problem)] }
    return state.listener == nil ? [] : [.init(name: "metrics", status: .ok)]
  }

  func run() async {
    try? await gracefulShutdown()
    await state.withLock { $0.listener }?.close()
  }
}
