public import CoreMetrics
import Synchronization

/// A counter that only grows. Each increment is one atomic addition.
public final class CounterCell: CounterHandler {
  private let count = Atomic<UInt64>(0)

  /// A counter at zero.
  public init() {}

  /// The current value.
  public var value: UInt64 { count.load(ordering: .relaxed) }

  /// Adds an amount. Ignores a negative one.
  public func increment(by amount: Int64) {
    guard amount > 0 else { return }
    count.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  /// Sets the value to zero.
  public func reset() { count.store(0, ordering: .relaxed) }
}
