import Testing
import Waiting

/// The error for a condition that did not come true in time.
struct NotInTime: Error, CustomStringConvertible {
  let description: String
}

/// Waits until `condition` returns a value, and returns it. Throws `NotInTime` when a `Patience` is over.
func eventually<R>(
  _ what: String, within limit: Duration = .seconds(20), _ condition: () async throws -> R?
) async throws -> R {
  var patience = Patience(limit)
  while !patience.isOver() {
    if let value = try await condition() { return value }
    try await Task.sleep(for: .milliseconds(1))
  }
  throw NotInTime(description: "not in time: \(what)")
}

/// Waits until `condition` is true. Throws `NotInTime` when a `Patience` is over.
func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
  try await eventually(what) { try await condition() ? () : nil }
}
