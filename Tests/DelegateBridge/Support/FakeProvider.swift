import SDKProtocol
import Synchronization

@testable import DelegateBridge

/// A provider whose runs end as a test configures, or hang until they are cancelled.
final class FakeProvider: ProviderRunning {
  private struct State: Sendable {
    var endings: [String: ProviderEnding] = [:]
    var hanging: Set<String> = []
    var outputs: [String: String] = [:]
    var runs: [String] = []
    var input: [UInt8] = []
    var current = 0
  }

  private let state = Mutex(State())

  /// The programs that were run, in order.
  var runs: [String] { state.withLock { $0.runs } }
  /// The standard input of the last run.
  var input: [UInt8] { state.withLock { $0.input } }
  /// The number of runs in progress.
  var current: Int { state.withLock { $0.current } }

  /// Sets how further runs of this program end; `nil` restores the default, exit status 0.
  func end(_ program: String, with ending: ProviderEnding?) { state.withLock { $0.endings[program] = ending } }

  /// Sets the output of further runs of this program. The default is `token-of-` and the program.
  func write(_ program: String, _ output: String) { state.withLock { $0.outputs[program] = output } }

  /// Makes further runs of this program hang for 600 s or until they are cancelled.
  func hang(_ program: String) { state.withLock { _ = $0.hanging.insert(program) } }

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    let program = invocation.arguments.first ?? ""
    let (ending, hangs, output) = state.withLock { state in
      state.runs.append(program)
      state.input = invocation.input
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
