import Synchronization

/// The configuration that is in force, for parts that look at it whenever they need it.
final class LiveConfiguration: Sendable {
  private struct State {
    var current: Configuration
    var followers: [Int: AsyncStream<Configuration>.Continuation] = [:]
    var lastFollower = 0
  }

  private let state: Mutex<State>

  init(_ configuration: Configuration) { state = Mutex(State(current: configuration)) }

  /// The one that is in force now.
  var current: Configuration { state.withLock { $0.current } }

  /// The one that is in force, and then each that takes its place; whoever is slow misses those in between.
  func changes() -> AsyncStream<Configuration> {
    let (stream, continuation) = AsyncStream<Configuration>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastFollower += 1
      state.followers[state.lastFollower] = continuation
      continuation.yield(state.current)
      return state.lastFollower
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in _ = state.followers.removeValue(forKey: number) }
    }
    return stream
  }

  /// Puts another one in force.
  func use(_ configuration: Configuration) {
    state.withLock { state in
      state.current = configuration
      for follower in state.followers.values { follower.yield(configuration) }
    }
  }
}
