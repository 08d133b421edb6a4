import SDKProtocol
import Synchronization

@testable import SDKInstances

/// A vendor that records every call and responds as scripted, or else accepts.
final class FakeVendor: Sendable {
  enum Operation: String, Sendable {
    case signIn, verify, signOut, makeAnonymous, probe, deliver, push, unpush, connect, open
  }

  private struct Step {
    var gate: Gate?
    var error: SDKError?
  }
  private struct State {
    var calls: [String] = []
    var steps: [Operation: [Step]] = [:]
    var gates: [Gate] = []
    var anonymous = 0
    var connections: [FakeConnection] = []
  }
  private let state = Mutex(State())
  /// The `base_url` of each logout's adapter, oldest first.
  let signOutURLs = Records<String>()

  /// The calls, oldest first, such as `signIn alice#1`.
  var calls: [String] { state.withLock { $0.calls } }
  func count(_ operation: Operation) -> Int { calls.count { $0.hasPrefix(operation.rawValue) } }

  /// Makes the next calls of an operation fail with these errors, one after the other.
  func fail(_ operation: Operation, _ errors: SDKError...) {
    state.withLock { $0.steps[operation, default: []] += errors.map { Step(error: $0) } }
  }

  /// Makes the next call of an operation wait for the returned gate, and then fail with `error` if it is not `nil`.
  func hold(_ operation: Operation, then error: SDKError? = nil) -> Gate {
    let gate = Gate()
    state.withLock { state in
      state.steps[operation, default: []].append(Step(gate: gate, error: error))
      state.gates.append(gate)
    }
    return gate
  }

  func openAll() { for gate in state.withLock({ $0.gates }) { gate.open() } }

  func nextAnonymous() -> Int {
    state.withLock { state in
      state.anonymous += 1
      return state.anonymous
    }
  }

  /// The connections that were opened, oldest first.
  var connections: [FakeConnection] { state.withLock { $0.connections } }

  func connection(of user: String) -> FakeConnection {
    let connection = FakeConnection(user: user)
    state.withLock { $0.connections.append(connection) }
    return connection
  }

  func perform(_ operation: Operation, _ who: String) async throws(SDKError) {
    let step = state.withLock { state in
      state.calls.append("\(operation.rawValue) \(who)")
      return state.steps[operation]?.isEmpty == false ? state.steps[operation]?.removeFirst() : nil
    }
    await step?.gate?.wait()
    if let error = step?.error { throw error }
  }
}
