/// A histogram read from OpenMetrics text, or the difference of two readings.
public struct HistogramReading: Sendable, Hashable {
  /// The number of observations that were at most each bound, by ascending bound. The last bound is infinite.
  public var buckets: [(bound: Double, count: Double)] {
    zip(bounds, counts).map { ($0, $1) }
  }
  private var bounds: [Double]
  private var counts: [Double]

  /// The histogram of a name (without `_bucket`), summed over all series with these labels.
  public init(_ name: String, _ labels: [String: String] = [:], in reading: MetricsReading) {
    var sums: [Double: Double] = [:]
    for sample in reading["\(name)_bucket"]
    where labels.allSatisfy({ sample.labels[$0.key] == $0.value }) {
      guard let text = sample.labels["le"], let bound = text == "+Inf" ? .infinity : Double(text) else { continue }
      sums[bound, default: 0] += sample.value
    }
    let sorted = sums.sorted { $0.key < $1.key }
    bounds = sorted.map(\.key)
    counts = sorted.map(\.value)
  }

  /// The number of observations.
  public var count: Double { counts.last ?? 0 }

  /// Returns the observations since an earlier reading.
  ///
  /// Returns all observations without an earlier reading, or if the process has restarted since.
  public func since(_ earlier: HistogramReading?) -> HistogramReading {
    guard let earlier, earlier.bounds == bounds, earlier.count <= count else { return self }
    var copy = self
    copy.counts = zip(counts, earlier.counts).map { max(0, $0 - $1) }
    return copy
  }

  /// Returns the value below which a share of the observations lies; `nil` without observations.
  ///
  /// Assumes that the observations of a bucket are spread evenly over it. A value beyond the last finite bound is
  /// reported as that bound.
  public func quantile(_ share: Double) -> Double? {
    guard count > 0 else { return nil }
    let rank = share * count
    var below = (bound: 0.0, count: 0.0)
    for bucket in buckets {
      if bucket.count >= rank {
        guard bucket.bound.isFinite else { return below.bound }
        let inside = bucket.count - below.count
        return below.bound + (bucket.bound - below.bound) * (inside > 0 ? (rank - below.count) / inside : 1)
      }
      below = bucket
    }
    return below.bound
  }
}
