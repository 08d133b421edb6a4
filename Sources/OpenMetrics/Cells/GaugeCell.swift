public import CoreMetrics
import Synchronization

/// A gauge, whose value can go up and down.
public final class GaugeCell: MeterHandler, RecorderHandler {
  private let bits = Atomic<UInt64>(Double(0).bitPattern)

  /// A gauge at zero.
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
