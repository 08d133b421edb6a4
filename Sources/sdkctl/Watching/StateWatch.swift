import Concurrency
import JSONRPC
import SDKClient
import SDKProtocol

/// A wait until an instance, or one of its services, is in one of several states.
struct StateWatch: Sendable {
  let client: SDKClient
  let id: InstanceID
  let service: String?
  let states: [InstanceState]

  /// The result of the wait.
  enum Outcome: Sendable {
    /// The instance, which is in one of the states.
    case reached(JSON)
    /// The time limit passed first.
    case late
  }

  /// Returns the state of the instance, or of the service if one is watched; `nil` if the instance has no such service.
  func state(of instance: JSON) -> String? {
    guard let service else { return instance["state"]?.stringValue }
    return instance["services"]?[service]?["state"]?.stringValue
  }

  /// Whether an instance is in one of the states.
  func holds(_ instance: JSON) -> Bool {
    state(of: instance).map { state in states.contains { $0.rawValue == state } } ?? false
  }

  /// Reads the instance after each of its events until it is in one of the states.
  ///
  /// - Throws: `SDKClientError`; `instanceNotFound` when it is deleted.
  func outcome(since cursor: String, within limit: Duration?) async throws -> Outcome {
    guard let limit else { return try await outcome(since: cursor) }
    do {
      return try await withTimeout(limit) { try await outcome(since: cursor) }
    } catch is TimeoutError {
      return .late
    }
  }

  private func outcome(since cursor: String) async throws -> Outcome {
    for try await _ in client.events(EventFilter(instances: [id]), since: cursor) {
      let instance = try await client.call(
        InstanceGet.name, try JSONValueEncoder.encode(InstanceGet.Params(instance: id)),
        ordering: InstanceGet.ordering)
      if holds(instance) { return .reached(instance) }
    }
    return .late
  }
}
