import ServiceLifecycle

/// Ends the serving of metrics over HTTP when the daemon stops.
struct MetricsService: Service {
  let listener: MetricsListener

  func run() async {
    try? await gracefulShutdown()
    await listener.close()
  }
}
