import SDKProtocol
import Synchronization

@testable import DelegateBridge

/// Ends runs as it is told, or hangs until they are cancelled.
final class FakeProvider: ProviderRunning {
  private struct State: Sendable {
    var endings: [String: ProviderEnding] = [:]
    var hanging: Set<String> = []
    var outputs: [String: String] = [:]
    var runs: [String] = []
    var current = 0
  }

  private let state = Mutex(State())

  /// The instances whose provider was run, in order.
  var runs: [String] { state.withLock { $0.runs } }
  /// How many run now.
  var current: Int { state.withLock { $0.current } }

  /// How runs with this program end from now on; an answer without this.
  func end(_ program: String, with ending: ProviderEnding?) { state.withLock { $0.endings[program] = ending } }

  /// What runs with this program write.
  func write(_ program: String, _ output: String) { state.withLock { $0.outputs[program] = output } }

  /// Lets runs with this program hang.
  func hang(_ program: String) { state.withLock { _ = $0.hanging.insert(program) } }

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    let program = invocation.arguments.first ?? ""
    let (ending, hangs, output) = state.withLock { state in
      state.runs.append(program)
      state.current += 1
      return (state.endings[program] ?? .exited(0), state.hanging.contains(program), state.outputs[program])
    }
    defer { state.withLock { $0.current -= 1 } }
    if hangs {
      try? await Task.sleep(for: .seconds(600))
      return ProviderRun(ending: Task.isCancelled ? .cancelled : .timedOut)
    }
    return ProviderRun(ending: ending, output: Array((output ?? "token-of-\(program)").utf8))
  }
}
