/// A number that is read for each text, not counted as events happen.
public struct MetricSample: Sendable, Hashable {
  /// The name of its family.
  public var family: String
  /// The values of the family's labels, in their order.
  public var labels: [String]
  /// The number, in the family's unit.
  public var value: Double

  /// A sample of a family.
  public init(_ family: MetricFamily, _ labels: [String] = [], is value: Double) {
    self.family = family.name
    self.labels = labels
    self.value = value
  }

  /// A sample of a whole number.
  public init(_ family: MetricFamily, _ labels: [String] = [], is value: Int) {
    self.init(family, labels, is: Double(value))
  }
}
