import SDKProtocol
import Testing

@testable import SDKInstances

/// A step that only records what the machine writes.
struct RecordedStep: StepWriter {
  typealias Action = AuthenticationMachine.Action

  private(set) var actions: [Action] = []
  /// The conditions that the parameters state about the machine. They must hold at the end of the step.
  private(set) var claims: [(AuthenticationMachine) -> Bool] = []

  mutating func supersede() { actions.append(.supersede) }
  mutating func adopt(wiping: Bool) { actions.append(.adopt(wipe: wiping)) }
  mutating func adoptCredential(verified: Bool, isAnonymous: Bool) {
    actions.append(.adoptCredential(verified: verified))
    claims.append { ($0.phase == .anonymous) == isAnonymous }
  }
  mutating func fallBack(keepingCredential: Bool) {
    actions.append(.fallBack)
    claims.append { ($0.standing == .expired) == keepingCredential }
  }
  mutating func wipe() { actions.append(.wipe) }
  mutating func record() { actions.append(.record) }
  mutating func announce(_ notice: AuthenticationMachine.Notice) { actions.append(.announce(notice)) }
  mutating func exchange() { actions.append(.exchange) }
  mutating func endFormer(mayHaveCredential: Bool, epoch: UInt64) {
    actions.append(.endFormer)
    claims.append { ($0.standing != .none) == mayHaveCredential && $0.epoch == epoch }
  }
  mutating func endSession() { actions.append(.endSession) }
  mutating func createAnonymous() { actions.append(.createAnonymous) }
  mutating func ask(attempt: Int, isRefusal: Bool, _ error: SDKError?) {
    actions.append(.ask(attempt: attempt, isRefusal: isRefusal, error))
  }
  mutating func renewItself() { actions.append(.renewItself) }
  mutating func confirm(_ error: SDKError, attempt: Int, epoch: UInt64) {
    actions.append(.confirm(error))
    claims.append { $0.activity == .confirming(attempt: attempt) && $0.epoch == epoch }
  }
  mutating func verify() { actions.append(.verify) }
  mutating func probe(epoch: UInt64) {
    actions.append(.probe)
    claims.append { $0.epoch == epoch }
  }
  mutating func undoAtVendor() { actions.append(.undoAtVendor) }
  mutating func finish(_ outcome: AuthenticationMachine.Outcome) { actions.append(.finish(outcome)) }
}

extension AuthenticationMachine {
  /// A call of a function of `StepWriter`.
  enum Action: Sendable, Hashable {
    case supersede
    case adopt(wipe: Bool)
    case adoptCredential(verified: Bool)
    case fallBack, wipe, record
    case announce(Notice)
    case exchange, endFormer, endSession, createAnonymous
    case ask(attempt: Int, isRefusal: Bool, SDKError?)
    case renewItself
    case confirm(SDKError)
    case verify, probe, undoAtVendor
    case finish(Outcome)
  }

  /// Processes an input, and returns what the machine has written, in order.
  mutating func apply(_ input: Input) -> [Action] {
    var step = RecordedStep()
    apply(input, &step)
    let machine = self
    let areTrue = step.claims.allSatisfy { isTrue in isTrue(machine) }
    #expect(areTrue, "a parameter of \(step.actions) differs from the machine")
    return step.actions
  }
}
