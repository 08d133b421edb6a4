public import CoreMetrics
import Synchronization

/// A number that only grows. Counting is one atomic addition.
public final class CounterCell: CounterHandler {
  private let count = Atomic<UInt64>(0)

  /// A counter at zero.
  public init() {}

  /// What was counted.
  public var value: UInt64 { count.load(ordering: .relaxed) }

  /// Adds to it; a negative amount is not counted.
  public func increment(by amount: Int64) {
    guard amount > 0 else { return }
    count.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  /// Begins again at zero.
  public func reset() { count.store(0, ordering: .relaxed) }
}
