public import CoreMetrics
import Synchronization

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

/// A counter that only grows. Each increment is one atomic addition.
public final class CounterCell: CounterHandler {
  private let count = Atomic<UInt64>(0)

  /// Creates a counter at zero.
  public init() {}

  /// The current value.
  public var value: UInt64 { count.load(ordering: .relaxed) }

  /// Adds an amount. Ignores a negative one.
  public func increment(by amount: Int64) {
    guard amount > 0 else { return }
    count.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  /// Sets the value to zero.
  public func reset() { count.store(0, ordering: .relaxed) }
}

/// A gauge, whose value can go up and down.
public final class GaugeCell: MeterHandler, RecorderHandler {
  private let bits = Atomic<UInt64>(Double(0).bitPattern)

  /// Creates a gauge at zero.
  public init() {}

  /// The current value.
  public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  /// Sets the value.
  public func set(_ value: Int64) { set(Double(value)) }
  /// Sets the value.
  public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
  /// Sets the value to the recorded number.
  public func record(_ value: Int64) { set(value) }
  /// Sets the value to the recorded number.
  public func record(_ value: Double) { set(value) }
  /// Adds an amount to the value.
  public func increment(by amount: Double) { move(by: amount) }
  /// Subtracts an amount from the value.
  public func decrement(by amount: Double) { move(by: -amount) }

  private func move(by amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }
}
