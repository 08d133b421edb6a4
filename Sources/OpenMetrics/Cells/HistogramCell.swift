public import CoreMetrics
import Synchronization

/// How many observations fell below each of some fixed bounds. An observation is a short search and two atomic additions.
public final class HistogramCell: TimerHandler, RecorderHandler {
  /// More bounds than this are not kept.
  public static let maximumBounds = 31

  /// What it holds at a moment.
  public struct Reading: Sendable, Hashable {
    /// How many observations were at most each bound, and at the end all of them: the format's buckets, which add up.
    public var cumulative: [UInt64]
    /// The sum of all observations in the family's unit.
    public var sum: Double
    /// How many there were.
    public var count: UInt64 { cumulative.last ?? 0 }
  }

  private let counts = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
  private let sum = Atomic<UInt64>(0)
  /// The bounds in the unit of what is recorded.
  private let limits: [Int64]
  /// How many of that unit make one of the family's.
  private let scale: Double

  /// A histogram without observations.
  ///
  /// - Parameters:
  ///   - bounds: ascending, in the family's unit.
  ///   - scale: how many of what is recorded make one of the family's unit: 1e9 for nanoseconds and seconds.
  public init(bounds: [Double], scale: Double) {
    limits = bounds.prefix(Self.maximumBounds).map { Self.whole($0 * scale) }
    self.scale = scale
  }

  /// Observes a duration.
  public func recordNanoseconds(_ duration: Int64) { record(duration) }
  /// Observes a number; fractions are rounded.
  public func record(_ value: Double) { record(Self.whole(value)) }
  /// Observes a number; a negative one counts as zero.
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

  /// What it holds. The parts of an observation that is just being made may be missing from it, never from the next.
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
