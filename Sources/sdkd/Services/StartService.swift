import ServiceLifecycle

/// A service that applies the configuration read at the start, which admits calls.
struct StartService: Service {
  let reloader: Reloader
  let loaded: ConfigurationLoader.Loaded

  func run() async throws {
    await reloader.begin(with: loaded)
    try? await gracefulShutdown()
  }
}
