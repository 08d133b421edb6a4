/// OpenMetrics text as it was read: what a client of the daemon makes of it.
public struct MetricsReading: Sendable, Hashable {
  /// One line.
  public struct Sample: Sendable, Hashable {
    /// Its labels.
    public var labels: [String: String]
    /// Its number.
    public var value: Double

    /// A sample.
    public init(labels: [String: String], value: Double) {
      self.labels = labels
      self.value = value
    }
  }

  /// Why a text can't be read.
  public struct SyntaxError: Error, Sendable, Hashable {
    /// The number of the line, from 1.
    public var line: Int

    /// A mistake in this line.
    public init(line: Int) { self.line = line }
  }

  private var samples: [String: [Sample]] = [:]

  /// Nothing.
  public init() {}

  /// Reads a text; comments and time stamps are passed over.
  public init(_ text: String) throws(SyntaxError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.first == "#" { continue }
      guard let (name, sample) = MetricsLine.read(line) else { throw SyntaxError(line: index + 1) }
      samples[name, default: []].append(sample)
    }
  }

  /// The samples of a name, as it stands in the text: `sdkd_calls_total`.
  public subscript(name: String) -> [Sample] { samples[name] ?? [] }

  /// The sum of the samples of a name that have these labels.
  public func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
    self[name].reduce(0) { sum, sample in
      labels.allSatisfy { sample.labels[$0.key] == $0.value } ? sum + sample.value : sum
    }
  }

  /// The sums of a name's samples by the value of a label.
  public func sums(_ name: String, by label: String) -> [String: Double] {
    self[name].reduce(into: [:]) { $0[$1.labels[label] ?? "", default: 0] += $1.value }
  }
}
