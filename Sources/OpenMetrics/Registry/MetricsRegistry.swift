public import CoreMetrics
import Synchronization

/// The metrics of a process: a factory for swift-metrics that writes them as text.
///
/// Families are declared before they are used. A metric with an undeclared name, another kind or other labels is not
/// counted. Neither is a combination of labels beyond `maximumSeries`, so that no label can make memory grow.
/// `rejected` counts both cases.
public final class MetricsRegistry: MetricsFactory {
  /// A function that returns current values. It is called each time the metrics are written as text.
  public typealias Collector = @Sendable () async -> [MetricSample]

  struct Key: Hashable {
    var family: String
    var labels: [String]
  }

  private struct State {
    var cells: [Key: MetricCell] = [:]
    var collectors: [Collector] = []
    var rejected = 0
  }

  /// The declared families, sorted by name.
  public let families: [MetricFamily]
  private let byName: [String: MetricFamily]
  private let maximumSeries: Int
  private let state = Mutex(State())

  /// Creates a registry of these families.
  ///
  /// - Parameter maximumSeries: the number of combinations of labels that are kept in all.
  public init(_ families: [MetricFamily], maximumSeries: Int = 8192) {
    self.families = families.sorted { $0.name < $1.name }
    byName = Dictionary(families.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.maximumSeries = maximumSeries
  }

  /// Adds a function that is called for each text, and whose values are included in it.
  public func collect(_ collector: @escaping Collector) { state.withLock { $0.collectors.append(collector) } }

  /// The number of rejected metrics and samples: undeclared ones, and combinations of labels beyond the bound.
  public var rejected: Int { state.withLock { $0.rejected } }

  /// Returns the current values of all metrics as text.
  public func text(_ format: MetricsFormat = .openMetrics) async -> String {
    let (cells, collectors) = state.withLock { ($0.cells, $0.collectors) }
    var series: [String: [MetricsText.Series]] = [:]
    for (key, cell) in cells {
      series[key.family, default: []].append(.init(labels: key.labels, reading: cell.reading))
    }
    for collector in collectors {
      for sample in await collector() {
        guard let family = byName[sample.family], sample.labels.count == family.labels.count,
          family.kind != .histogram
        else {
          reject()
          continue
        }
        series[sample.family, default: []].append(.init(labels: sample.labels, reading: .number(sample.value)))
      }
    }
    return MetricsText.write(families.map { ($0, series[$0.name] ?? []) }, as: format)
  }

  func reject() { state.withLock { $0.rejected += 1 } }

  /// Returns the cell of the family `label` with the labels `dimensions`, created if needed; `nil` if it was rejected.
  func cell(
    _ label: String, _ dimensions: [(String, String)], make: (MetricFamily) -> MetricCell?
  ) -> MetricCell? {
    guard let family = byName[label], family.labels == dimensions.map(\.0) else {
      reject()
      return nil
    }
    let key = Key(family: label, labels: dimensions.map(\.1))
    return state.withLock { state in
      if let cell = state.cells[key] { return cell }
      guard state.cells.count < maximumSeries, let cell = make(family) else {
        state.rejected += 1
        return nil
      }
      state.cells[key] = cell
      return cell
    }
  }
}
