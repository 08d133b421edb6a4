/// The samples of an OpenMetrics text, for clients of the daemon.
public struct MetricsReading: Sendable, Hashable {
  /// A sample, one line of the text.
  public struct Sample: Sendable, Hashable {
    /// The values of the labels, by name.
    public var labels: [String: String]
    /// The value.
    public var value: Double
  }

  /// An error in the syntax of a text.
  public struct SyntaxError: Error, Sendable, Hashable {
    /// The number of the faulty line, from 1.
    public var line: Int

    /// Creates an error in this line.
    public init(line: Int) { self.line = line }
  }

  private var samples: [String: [Sample]] = [:]

  /// Creates a reading without samples.
  public init() {}

  /// Reads a text. Ignores comments and time stamps.
  public init(_ text: String) throws(SyntaxError) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.isEmpty || line.first == "#" { continue }
      guard let (name, sample) = MetricsLine.read(line) else { throw SyntaxError(line: index + 1) }
      samples[name, default: []].append(sample)
    }
  }

  /// The samples of a name as written in the text, such as `sdkd_calls_total`.
  public subscript(name: String) -> [Sample] { samples[name] ?? [] }

  /// Returns the sum of a name's samples that have these labels.
  public func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
    self[name].reduce(0) { sum, sample in
      labels.allSatisfy { sample.labels[$0.key] == $0.value } ? sum + sample.value : sum
    }
  }

  /// Returns the sums of a name's samples by the value of a label.
  public func sums(_ name: String, by label: String) -> [String: Double] {
    self[name].reduce(into: [:]) { $0[$1.labels[label] ?? "", default: 0] += $1.value }
  }
}
