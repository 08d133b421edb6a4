public import Logging
import Synchronization

/// The level below which nothing is logged, shared by all loggers. It can change while the daemon runs.
public final class LogThreshold: Sendable {
  private static let levels = Logger.Level.allCases
  private let index: Atomic<Int>

  /// A threshold with this initial level.
  public init(_ level: Logger.Level) {
    index = Atomic(Self.levels.firstIndex(of: level) ?? 0)
  }

  /// The current level.
  public var level: Logger.Level {
    get { Self.levels[index.load(ordering: .relaxed)] }
    set { index.store(Self.levels.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
  }
}
