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
    /// The number of observations that were at most each bound, then the number of all observations.
    ///
    /// This is the format's cumulative list of buckets.
    public var cumulative: [UInt64]
    /// The sum of all observations in the family's unit.
    public var sum: Double
    /// The number of observations.
    public var count: UInt64 { cumulative.last ?? 0 }
  }

  private let counts = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
  private let sum = Atomic<UInt64>(0)
  /// The bounds in the recorded unit.
  private let limits: [Int64]
  /// The number of recorded units in one unit of the family.
  private let scale: Double

  /// A histogram without observations.
  ///
  /// - Parameters:
  ///   - bounds: ascending, in the family's unit.
  ///   - scale: the number of recorded units in one unit of the family: 1e9 for nanoseconds and seconds.
  public init(bounds: [Double], scale: Double) {
    limits = bounds.prefix(Self.maximumBounds).map { Self.whole($0 * scale) }
    self.scale = scale
  }

  /// Observes a duration.
  public func recordNanoseconds(_ duration: Int64) { record(duration) }
  /// Observes a number, rounded to a whole one.
  public func record(_ value: Double) { record(Self.whole(value)) }
  /// Observes a number. A negative one adds nothing to the sum.
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
