import OpenMetrics

/// The table of all metrics for the documentation.
enum MetricsTable {
  static var markdown: String {
    let rows = MetricFamily.all.sorted { $0.name < $1.name }.map { family in
      let labels = family.labels.isEmpty ? "–" : family.labels.map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(family.queryName)` | \(family.kind.rawValue) | \(labels) | \(family.help) |\n"
    }
    return "| name | type | labels | what it tells |\n|---|---|---|---|\n" + rows.joined()
  }
}
