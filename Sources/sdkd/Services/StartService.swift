import ServiceLifecycle

/// Puts the configuration that was read at the start in force, which lets calls in.
struct StartService: Service {
  let reloader: Reloader
  let loaded: ConfigurationLoader.Loaded

  func run() async throws {
    await reloader.begin(with: loaded)
    try? await gracefulShutdown()
  }
}
