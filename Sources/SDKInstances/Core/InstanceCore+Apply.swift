import SDKProtocol
import StateStore

extension InstanceCore {
  typealias Input = AuthenticationMachine.Input

  /// Applies an input to the authentication state machine of a service, and returns the step that the machine writes.
  /// That is empty for a deleted instance, which calls and timers may still reach.
  ///
  /// - Parameters:
  ///   - begun: the activity that the input begins, if it begins one. The step's caller waits for it.
  ///   - result: the vendor's result, for inputs that carry one.
  ///   - isInformed: whether the vendor has ended the wiped user's session.
  mutating func apply(
    _ input: Input, on service: String?, beginning begun: RunningActivity? = nil, with result: SignedIn? = nil,
    isInformed: Bool = false, _ context: StepContext
  ) -> Step {
    guard !isDeleted, let former = self[service] else { return Step() }
    var (state, machine) = (former, former.machine)
    state.running = begun ?? former.running
    var transition = Transition(
      core: self, former: former, state: state, input: input, begun: begun, activity: state.running, result: result,
      isInformed: isInformed || input.tellsThatVendorKnows, context: context, change: newChange())
    machine.apply(input, &transition)
    let step = transition.end(with: machine)
    self = transition.core
    return step
  }

  /// Returns the step that commits a change with the present identities.
  mutating func step(committing change: InstanceChange, raising raise: UInt64 = 0) -> Step {
    var step = Step(change: change)
    do throws(SDKError) {
      // The identity comes directly after a wipe, before the other parts that the change writes.
      let place = change.parts.firstIndex { if case .wipe = $0 { true } else { false } }.map { $0 + 1 } ?? 0
      step.change?.parts.insert(.identify(try storedIdentities()), at: place)
    } catch {
      step.error = error
    }
    durableEpoch += raise
    if raise > 0 { step.change?.parts.append(.raiseEpoch(to: durableEpoch)) }
    return step
  }
}
