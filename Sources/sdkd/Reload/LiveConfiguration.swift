import Synchronization

/// The configuration that is in force, for parts that look at it whenever they need it.
final class LiveConfiguration: Sendable {
  private let state: Mutex<Configuration>

  init(_ configuration: Configuration) { state = Mutex(configuration) }

  /// The one that is in force now.
  var current: Configuration { state.withLock { $0 } }

  /// Puts another one in force.
  func use(_ configuration: Configuration) { state.withLock { $0 = configuration } }
}
