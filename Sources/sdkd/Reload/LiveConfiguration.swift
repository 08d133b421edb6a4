import Synchronization

/// The configuration in force, for parts that read it whenever they need it.
final class LiveConfiguration: Sendable {
  private let state: Mutex<Configuration>

  init(_ configuration: Configuration) { state = Mutex(configuration) }

  /// The configuration that is now in force.
  var current: Configuration { state.withLock { $0 } }

  /// Replaces the configuration.
  func use(_ configuration: Configuration) { state.withLock { $0 = configuration } }
}
