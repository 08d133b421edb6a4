import SDKProtocol
import StateStore

extension InstanceCore {
  typealias Input = AuthenticationMachine.Input

  /// Applies an input to the authentication state machine of a service, and returns the step that the machine writes.
  /// That is empty for a deleted instance, which calls and timers may still reach.
  ///
  /// - Parameters:
  ///   - begun: the activity that the input begins, if it begins one.
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

  /// Ends a step after its commit. Takes `next` over or keeps the present state, as the outcome of the commit and the
  /// step's `failure` require.
  mutating func settle(
    _ step: Step, to next: InstanceCore, _ commit: Result<CommitResult, SDKError>
  ) -> SettledStep {
    switch (commit, step.failure) {
    case (.success(let done), _):
      self = next
      if let wiped = done.wiped { storageEpoch = wiped.storageEpoch }
    case (.failure, .keepInMemory): self = next
    case (.failure, .keepIdentityInMemory):
      let (pushes, deliveries) = (pushes, deliveries)
      self = next
      (self.pushes, self.deliveries) = (pushes, deliveries)
    case (.failure(let error), .refuse): return SettledStep(isTaken: false, error: error)
    case (.failure(let error), .end(let ended, let service, let rests, let wipe, let isKnownToVendor)):
      activities = next.activities
      // The vendor may have spent the credential, even if the step could not be stored.
      self[service]?.isInterrupted = next[service]?.isInterrupted ?? false
      if rests { self[service]?.running = nil }
      var effects: [Effect] = []
      var error = error.about(id)
      if let wipe {
        self[service]?.machine.wipeFailed()
        self[service]?.failedWipe = (wipe, isKnownToVendor)
        effects = [.endDemand]
        if isKnownToVendor {
          error.message =
            "The vendor has ended the session, but that could not be stored, and \(id) is locked; make room on the disk "
            + "or repair it. The daemon then repeats the logout by itself."
        }
      } else if rests {
        self[service]?.machine.rest()
      }
      // A logout in progress kept the connection of a credential that was refused meanwhile.
      if rests, let state = self[service], !wantsConnection(state) {
        effects += self[service]?.dropConnection() ?? []
      }
      effects += ended.map { .end($0, .failed(error)) }
      if let login = step.login { effects += undoAtVendor(login) }
      return SettledStep(effects: effects.map { (service, $0) }, isTaken: false)
    }
    return SettledStep(effects: step.effects)
  }

  /// Returns the effect that undoes a result at the vendor, because it came too late or can't be stored; none if the
  /// vendor was not contacted for it. The user is logged out unless signed in by then (`InstanceActor.beginUndo`). An
  /// anonymous user has no logout.
  func undoAtVendor(_ result: SignedIn) -> [Effect] {
    guard result.prepared == nil, result.isTold else { return [] }
    return [.undoAtVendor(result, logsOut: result.user.authenticated)]
  }
}
