/// A bounded store of values by key. A value beyond the bound replaces the oldest.
struct BoundedStore<Value: Sendable>: Sendable {
  private(set) var values: [String: Value] = [:]
  private var order: [String] = []
  private let most: Int

  init(most: Int) {
    self.most = most
  }

  subscript(key: String) -> Value? {
    get { values[key] }
    set {
      if let newValue {
        if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
        if order.count > most { values.removeValue(forKey: order.removeFirst()) }
      } else if values.removeValue(forKey: key) != nil {
        order.removeAll { $0 == key }
      }
    }
  }

  /// Applies a change to each value.
  mutating func change(_ change: (inout Value) -> Void) {
    for key in order {
      guard var value = values[key] else { continue }
      change(&value)
      values[key] = value
    }
  }

  /// The keys and values, oldest first.
  var entries: [(key: String, value: Value)] {
    order.compactMap { key in values[key].map { (key, $0) } }
  }
}
