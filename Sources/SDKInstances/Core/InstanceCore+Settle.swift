import SDKProtocol
import StateStore

extension InstanceCore {
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
      if let login = step.login { effects += undoing(login) }
      return SettledStep(effects: effects.map { (service, $0) }, isTaken: false)
    }
    return SettledStep(effects: step.effects)
  }

  /// Returns the effect that undoes a result at the vendor, because it came too late or can't be stored; none if the
  /// vendor was not contacted for it. The user is logged out unless signed in by then (`InstanceActor.beginUndo`). An
  /// anonymous user has no logout.
  func undoing(_ result: SignedIn) -> [Effect] {
    guard result.prepared == nil, result.isTold else { return [] }
    return [.undoAtVendor(result, logsOut: result.user.authenticated)]
  }
}
