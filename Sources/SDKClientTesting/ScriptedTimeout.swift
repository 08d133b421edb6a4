/// What a test waited for has not happened.
public struct ScriptedTimeout: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  /// Looks again and again.
  static func wait(for what: String, within limit: Duration, _ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + limit
    while !condition() {
      guard .now < deadline else { throw ScriptedTimeout(description: "\(what): not within \(limit)") }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}
