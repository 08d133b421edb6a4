import DelegateBridge
import SDKProtocol
import Synchronization

@testable import SDKInstances

/// A bridge that records every question and responds as scripted, or else fails with `noProvider`.
final class FakeBridge: AnsweringBridge {
  private struct Step {
    var gate: Gate?
    var answer: Result<BridgeAnswer, SDKError>
  }
  private struct State {
    var questions: [BridgeQuestion] = []
    var steps: [Step] = []
    var gates: [Gate] = []
    var resets = 0
    var acceptances = 0
    var rejections = 0
    var forgotten: [BridgeKey] = []
  }
  private let state = Mutex(State())

  var questions: [BridgeQuestion] { state.withLock { $0.questions } }
  var resets: Int { state.withLock { $0.resets } }
  var acceptances: Int { state.withLock { $0.acceptances } }
  var rejections: Int { state.withLock { $0.rejections } }
  var forgotten: [BridgeKey] { state.withLock { $0.forgotten } }

  func answer(_ tokens: String...) {
    state.withLock { $0.steps += tokens.map { Step(answer: .success(BridgeAnswer(token: Secret($0)))) } }
  }

  func answer(_ token: String, expiresAt: Timestamp) {
    let answer = BridgeAnswer(token: Secret(token), expiresAt: expiresAt)
    state.withLock { $0.steps.append(Step(answer: .success(answer))) }
  }

  func fail(_ errors: SDKError...) { state.withLock { $0.steps += errors.map { Step(answer: .failure($0)) } } }

  /// Makes the next question wait for the returned gate, and then respond with `token`.
  func hold(then token: String) -> Gate {
    let gate = Gate()
    state.withLock { state in
      state.steps.append(Step(gate: gate, answer: .success(BridgeAnswer(token: Secret(token)))))
      state.gates.append(gate)
    }
    return gate
  }

  func openAll() { for gate in state.withLock({ $0.gates }) { gate.open() } }

  func ask(
    _ question: BridgeQuestion, of key: BridgeKey, provider: ProviderConfiguration?, owner: UInt32?
  ) async throws(SDKError) -> BridgeAnswer {
    let step = state.withLock { state in
      state.questions.append(question)
      return state.steps.isEmpty ? nil : state.steps.removeFirst()
    }
    await step?.gate?.wait()
    guard let step else { throw SampleErrors.none }
    return try step.answer.get()
  }

  func status(of key: BridgeKey) -> Instance.Bridge { .init(state: .closed) }
  func reset(_ key: BridgeKey) { state.withLock { $0.resets += 1 } }
  func accept(_ key: BridgeKey) { state.withLock { $0.acceptances += 1 } }
  func reject(_ key: BridgeKey) { state.withLock { $0.rejections += 1 } }
  func forget(_ key: BridgeKey) { state.withLock { $0.forgotten.append(key) } }
}
