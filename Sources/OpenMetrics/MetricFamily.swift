/// The declaration of the metrics of one name: their kind, unit and labels.
public struct MetricFamily: Sendable, Hashable {
  /// The kind of the metrics, by its name in the format.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A number that only grows while the process lives.
    case counter
    /// A number that can go up and down.
    case gauge
    /// The number of observations up to each bound, their total number and their sum.
    case histogram
    /// A constant 1, whose labels carry the information.
    case info
  }

  /// The name without the suffix that the format adds to samples: `sdkd_calls`, not `sdkd_calls_total`.
  public var name: String
  /// The kind of the metrics, by its name in the format.
  public var kind: Kind
  /// The unit, which is also the last part of the name: `seconds`, `bytes`.
  public var unit: String?
  /// The description, a sentence.
  public var help: String
  /// The names of its labels, in the order in which they are written.
  public var labels: [String]
  /// The upper bounds of a histogram in its unit, ascending, without infinity. At most `HistogramCell.maximumBounds`
  /// are used.
  public var bounds: [Double]
  /// Whether the text omits numbers that are zero and histograms without observations.
  public var hidesUnused: Bool

  /// Creates a family of these properties.
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

  /// The name by which queries find the values: the name with `_total` for a counter, with `_info` for an info, else
  /// unchanged.
  public var queryName: String {
    switch kind {
    case .counter: name + "_total"
    case .info: name + "_info"
    case .gauge, .histogram: name
    }
  }
}

/// A number that is read each time the metrics are written as text, instead of counted as events happen.
public struct MetricSample: Sendable, Hashable {
  /// The name of its family.
  public var family: String
  /// The values of the family's labels, in their order.
  public var labels: [String]
  /// The number, in the family's unit.
  public var value: Double

  /// Creates a sample of a family.
  public init(_ family: MetricFamily, _ labels: [String] = [], is value: Double) {
    self.family = family.name
    self.labels = labels
    self.value = value
  }

  /// Creates a sample of a whole number.
  public init(_ family: MetricFamily, _ labels: [String] = [], is value: Int) {
    self.init(family, labels, is: Double(value))
  }
}
