public import CoreMetrics
import Synchronization

/// A histogram: the sum of observations and their number up to each of some fixed bounds.
///
/// An observation costs a short search and two atomic additions.
public final class HistogramCell: TimerHandler, RecorderHandler {
  /// The largest number of bounds. Further bounds are ignored.
  public static let maximumBounds = 31

  /// The contents of a histogram at one time.
  public struct Reading: Sendable, Hashable {
    /// For each bound in ascending order, the number of observations that are at most the bound. The last element is
    /// the number of all observations.
    ///
    /// The text formats call these the cumulative buckets.
    public var cumulative: [UInt64]
    /// The sum of all observations in the family's unit.
    public var sum: Double
    /// The number of observations.
    public var count: UInt64 { cumulative.last ?? 0 }
  }

  private let counts = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
  private let sum = Atomic<UInt64>(0)
  /// The upper bounds in the unit of the recorded numbers, such as nanoseconds.
  private let limits: [Int64]
  /// The factor from the family's unit to the unit of the recorded numbers: 1e9 for seconds and nanoseconds.
  private let scale: Double

  /// Creates a histogram without observations.
  ///
  /// - Parameters:
  ///   - bounds: the upper bounds, ascending, in the family's unit.
  ///   - scale: the factor from the family's unit to the unit of the recorded numbers, such as 1e9 for seconds and
  ///     nanoseconds.
  public init(bounds: [Double], scale: Double) {
    limits = bounds.prefix(Self.maximumBounds).map { Self.whole($0 * scale) }
    self.scale = scale
  }

  /// Adds the observation of a duration, in nanoseconds.
  public func recordNanoseconds(_ duration: Int64) { record(duration) }
  /// Adds the observation of a number, rounded to a whole one.
  public func record(_ value: Double) { record(Self.whole(value)) }
  /// Adds the observation of a number. A negative one adds nothing to the sum.
  public func record(_ value: Int64) {
    var low = 0
    var high = limits.count
    while low < high {
      let middle = (low + high) / 2
      if value <= limits[middle] { high = middle } else { low = middle + 1 }
    }
    counts[low].wrappingAdd(1, ordering: .relaxed)
    sum.wrappingAdd(UInt64(max(0, value)), ordering: .relaxed)
  }

  /// The current contents. Parts of an observation in progress may be missing.
  public var reading: Reading {
    var total: UInt64 = 0
    var cumulative: [UInt64] = []
    cumulative.reserveCapacity(limits.count + 1)
    for index in 0...limits.count {
      total &+= counts[index].load(ordering: .relaxed)
      cumulative.append(total)
    }
    return Reading(cumulative: cumulative, sum: Double(sum.load(ordering: .relaxed)) / scale)
  }

  private static func whole(_ value: Double) -> Int64 {
    if value.isNaN { return 0 }
    return Int64(exactly: value.rounded()) ?? (value < 0 ? 0 : Int64.max)
  }
}
