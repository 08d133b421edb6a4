public import CoreMetrics
import Synchronization

/// A number that goes up and down.
public final class GaugeCell: MeterHandler, RecorderHandler {
  private let bits = Atomic<UInt64>(Double(0).bitPattern)

  /// A gauge at zero.
  public init() {}

  /// Where it stands.
  public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  /// Puts it somewhere.
  public func set(_ value: Int64) { set(Double(value)) }
  /// Puts it somewhere.
  public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
  /// The last record counts.
  public func record(_ value: Int64) { set(value) }
  /// The last record counts.
  public func record(_ value: Double) { set(value) }
  /// Moves it up.
  public func increment(by amount: Double) { move(by: amount) }
  /// Moves it down.
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
