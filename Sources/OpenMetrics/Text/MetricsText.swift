/// A writer of metrics as text, in either format.
///
/// In the classic format a counter is named as its samples are, an info is a gauge, and there are no units.
enum MetricsText {
  /// The value or contents of one combination of labels.
  struct Series {
    var labels: [String]
    var reading: MetricReading
  }

  /// Returns the whole text. Families without values are omitted.
  static func write(_ families: [(family: MetricFamily, series: [Series])], as format: MetricsFormat) -> String {
    var text = ""
    for (family, series) in families {
      let used = series.filter { !family.hidesUnused || !$0.reading.isUnused }
      guard !used.isEmpty else { continue }
      writeHead(of: family, as: format, into: &text)
      for one in used.sorted(by: { $0.labels.lexicographicallyPrecedes($1.labels) }) {
        write(one, of: family, into: &text)
      }
    }
    if format == .openMetrics { text += "# EOF\n" }
    return text
  }

  private static func writeHead(of family: MetricFamily, as format: MetricsFormat, into text: inout String) {
    switch format {
    case .classic:
      let kind = family.kind == .info ? MetricFamily.Kind.gauge : family.kind
      text += "# HELP \(family.queryName) \(escaped(family.help, quotes: false))\n"
      text += "# TYPE \(family.queryName) \(kind.rawValue)\n"
    case .openMetrics:
      text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      if let unit = family.unit { text += "# UNIT \(family.name) \(unit)\n" }
      text += "# HELP \(family.name) \(escaped(family.help))\n"
    }
  }

  private static func write(_ series: Series, of family: MetricFamily, into text: inout String) {
    let pairs = zip(family.labels, series.labels).map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
    func line(_ suffix: String, _ value: String, bound: String? = nil) {
      let bounded = bound.map { pairs.isEmpty ? "le=\"\($0)\"" : "\(pairs),le=\"\($0)\"" } ?? pairs
      text += bounded.isEmpty ? "\(family.name)\(suffix) \(value)\n" : "\(family.name)\(suffix){\(bounded)} \(value)\n"
    }
    switch series.reading {
    case .number(let value):
      switch family.kind {
      case .counter: line("_total", number(value))
      case .info: line("_info", number(value))
      case .gauge, .histogram: line("", number(value))
      }
    case .histogram(let reading):
      let bounds = family.bounds.prefix(HistogramCell.maximumBounds).map { "\($0)" } + ["+Inf"]
      for (bound, count) in zip(bounds, reading.cumulative) { line("_bucket", "\(count)", bound: bound) }
      line("_sum", number(reading.sum))
      line("_count", "\(reading.count)")
    }
  }

  /// Returns a number as text; a whole one has no decimal point.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool = true) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\"" where quotes: result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}
