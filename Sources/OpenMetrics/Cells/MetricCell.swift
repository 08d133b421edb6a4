/// The metric of one combination of labels.
enum MetricCell: Sendable {
  case counter(CounterCell)
  case gauge(GaugeCell)
  case histogram(HistogramCell)

  /// The current value or contents.
  var reading: MetricReading {
    switch self {
    case .counter(let cell): .number(Double(cell.value))
    case .gauge(let cell): .number(cell.value)
    case .histogram(let cell): .histogram(cell.reading)
    }
  }
}

/// The value or contents of a cell when it was read.
enum MetricReading: Sendable, Hashable {
  case number(Double)
  case histogram(HistogramCell.Reading)

  var isUnused: Bool {
    switch self {
    case .number(let value): value == 0
    case .histogram(let reading): reading.count == 0
    }
  }
}
