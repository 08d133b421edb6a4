import Testing

@testable import SDKInstances

/// Waiting with a deadline.
enum SocketWait {
  /// A condition did not come true in time.
  struct NotInTime: Error, CustomStringConvertible {
    let description: String
  }

  /// Waits until `condition` gives a value, and fails after a deadline that no healthy machine needs.
  static func until<R>(_ what: String, _ condition: () async throws -> R?) async throws -> R {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      if let value = try await condition() { return value }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw NotInTime(description: "not in time: \(what)")
  }

  /// The failure that `body` ends with.
  static func failure(of body: () async throws(HTTPFailure) -> Void) async -> HTTPFailure? {
    do throws(HTTPFailure) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Whether a failure is one of the network.
  static func isNetwork(_ failure: HTTPFailure?) -> Bool {
    if case .network? = failure { true } else { false }
  }
}
