import Testing
import Waiting

@testable import SDKInstances

/// Helpers that wait for conditions and for failures.
enum SocketWait {
  /// The error of a condition that did not hold in time.
  struct NotInTime: Error, CustomStringConvertible {
    let description: String
  }

  /// Waits until `condition` gives a value. Throws `NotInTime` when a `Patience` is over.
  static func until<R>(_ what: String, _ condition: () async throws -> R?) async throws -> R {
    var patience = Patience()
    while !patience.isOver() {
      if let value = try await condition() { return value }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw NotInTime(description: "not in time: \(what)")
  }

  /// Returns the failure that `body` throws; `nil` for none.
  static func failure(of body: () async throws(HTTPFailure) -> Void) async -> HTTPFailure? {
    do throws(HTTPFailure) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Whether a failure is `network`.
  static func isNetwork(_ failure: HTTPFailure?) -> Bool {
    if case .network? = failure { true } else { false }
  }
}
