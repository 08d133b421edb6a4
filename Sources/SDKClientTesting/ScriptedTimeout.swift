/// An error for a condition that did not become true in time.
public struct ScriptedTimeout: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  /// Polls `condition` every millisecond until it is true.
  static func wait(for what: String, within limit: Duration, _ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + limit
    while !condition() {
      guard .now < deadline else { throw ScriptedTimeout(description: "\(what): not within \(limit)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
