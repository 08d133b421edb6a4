/// Metrics of one name: what they count, in which unit, and by which labels they differ.
public struct MetricFamily: Sendable, Hashable {
  /// What kind of number it is; the word of the format.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Only grows while the process lives.
    case counter
    /// Goes up and down.
    case gauge
    /// How many observations fell below each bound, their number and their sum.
    case histogram
    /// Always 1; its labels are what it tells.
    case info
  }

  /// The name without the suffix that the format adds to samples: `sdkd_calls`, not `sdkd_calls_total`.
  public var name: String
  /// What kind of number it is.
  public var kind: Kind
  /// The unit, which is also the end of the name: `seconds`, `bytes`.
  public var unit: String?
  /// What it tells, in a sentence.
  public var help: String
  /// The names of its labels, in the order in which they are written.
  public var labels: [String]
  /// The upper bounds of a histogram in its unit, ascending, without infinity; at most `HistogramCell.maximumBounds`.
  public var bounds: [Double]
  /// Whether a combination of labels that was never counted is left out of the text.
  public var hidesUnused: Bool

  /// A family of these properties.
  public init(
    _ name: String, _ kind: Kind, unit: String? = nil, labels: [String] = [], bounds: [Double] = [],
    hidesUnused: Bool = false, _ help: String
  ) {
    self.name = name
    self.kind = kind
    self.unit = unit
    self.help = help
    self.labels = labels
    self.bounds = bounds
    self.hidesUnused = hidesUnused
  }

  /// The name as it stands in queries: with the suffix of its samples, but for histograms.
  public var queryName: String {
    switch kind {
    case .counter: name + "_total"
    case .info: name + "_info"
    case .gauge, .histogram: name
    }
  }
}
