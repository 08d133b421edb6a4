import Synchronization

/// A value that a hook sets and the test reads.
final class Seen<Value: Sendable>: Sendable {
  private let contents: Mutex<Value>

  init(_ value: Value) { contents = Mutex(value) }

  var value: Value { contents.withLock { $0 } }

  func set(_ value: Value) { contents.withLock { $0 = value } }

  func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    contents.withLock { value in
      var copy = value
      let result = body(&copy)
      value = copy
      return result
    }
  }
}
