import SDKProtocol
import Testing

@testable import SDKInstances

/// The rows M1 to M7 of `rows.md`, with a policy like that of Zendesk Messaging.
struct MachineEdgeTests {
  typealias Machine = AuthenticationMachine

  private func machine(
    _ phase: Machine.Phase, _ standing: Machine.Standing, attempts: Int = 3,
    onAnotherUser: AuthenticationPolicy.AnotherUser = .signOutAfter
  ) -> Machine {
    Machine(
      phase: phase, standing: standing, epoch: 4,
      policy: .init(onDenied: .logOut, onBudgetSpent: .logOut, onAnotherUser: onAnotherUser, maxAttempts: attempts))
  }

  // MARK: M1, M2

  @Test func `M1: a first login goes to the vendor and is adopted`() {
    var machine = machine(.noUser, .none)
    #expect(machine.apply(.signIn(sameUser: nil)) == [.exchange])
    #expect(machine.state == .authenticating)
    #expect(machine.apply(.signInAccepted(epoch: 5)) == [.adopt(wipe: false), .announce(.loggedIn), .finish(.done)])
    #expect(machine.state == .authenticated)
    #expect(machine.mayHandOut)
  }

  @Test func `M1: the same user with a new token is not logged out`() {
    var machine = machine(.authenticated, .usable)
    #expect(machine.apply(.signIn(sameUser: true)) == [.exchange])
    #expect(machine.mayHandOut)
  }

  @Test func `M1: another user's login wipes the former user when the vendor has accepted it`() {
    var machine = machine(.authenticated, .usable)
    #expect(machine.apply(.signIn(sameUser: false)) == [.record, .exchange])
    #expect(machine.mayHandOut)
    #expect(machine.apply(.signInAccepted(epoch: 5)) == [.adopt(wipe: true), .announce(.loggedIn), .finish(.done)])
  }

  @Test(arguments: [SampleErrors.refused, SampleErrors.network, SampleErrors.serverError])
  func `M1: another user's login that fails leaves the former user`(error: SDKError) {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.signIn(sameUser: false))
    let actions = machine.apply(.signInFailed(epoch: 5, error))
    #expect(actions.last == .finish(.failed(error)))
    #expect(!actions.contains(.wipe))
    #expect(machine.mayHandOut)
  }

  @Test func `M1: an anonymous user is not wiped by the login that absorbs them`() {
    var machine = machine(.anonymous, .usable)
    #expect(machine.apply(.signIn(sameUser: nil)) == [.exchange])
    #expect(machine.apply(.signInAccepted(epoch: 5)).first == .adopt(wipe: false))
  }

  @Test func `E5: where the switch is a logout the former session ends first, wiped before the exchange`() {
    var machine = machine(.authenticated, .usable, onAnotherUser: .signOutFirst)
    #expect(machine.apply(.signIn(sameUser: false)) == [.record, .endFormer])
    #expect(machine.apply(.formerEnded(epoch: 5)) == [.wipe, .announce(.loggedOut(.switch)), .exchange])
    #expect(machine.phase == .loggedOut)
    #expect(!machine.mayHandOut)
    #expect(machine.apply(.signInAccepted(epoch: 5)).contains(.announce(.loggedIn)))
  }

  @Test(
    "The late end of a session leaves the user whose session it was",
    arguments: [
      (.signIn(sameUser: true), [.wipe, .announce(.loggedOut(.switch))]),
      (.signIn(sameUser: false), [.wipe, .announce(.loggedOut(.switch))]),
      (.signOut(localOnly: false), []),
    ] as [(Machine.Input, [Machine.Action])])
  func theLateEndOfASession(next: Machine.Input, actions: [Machine.Action]) {
    var machine = machine(.authenticated, .usable, onAnotherUser: .signOutFirst)
    _ = machine.apply(.signIn(sameUser: false))
    let epoch = machine.epoch
    _ = machine.apply(next)
    #expect(machine.apply(.formerEnded(epoch: epoch)) == [], "a session that the vendor did not end")
    #expect(machine.apply(.formerEnded(epoch: epoch, informed: true)) == actions)
    #expect(machine.apply(.formerEnded(epoch: epoch, informed: true)) == [])
    #expect(!machine.mayHandOut)
  }

  @Test func `M1: a newer login supersedes, and the older one's acceptance is undone`() {
    var machine = machine(.noUser, .none)
    _ = machine.apply(.signIn(sameUser: nil))
    #expect(machine.apply(.signIn(sameUser: nil)) == [.supersede, .exchange])
    #expect(machine.apply(.signInAccepted(epoch: 5)) == [.undoAtVendor])
    #expect(machine.activity == .signingIn)
  }

  @Test func `M2: a refused login keeps the current user`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.signIn(sameUser: true))
    let error = SampleErrors.refused
    #expect(
      machine.apply(.signInFailed(epoch: 5, error)) == [
        .announce(.authenticationFailed(error)), .finish(.failed(error)),
      ])
    #expect(machine.state == .authenticated)
    #expect(machine.mayHandOut)
  }

  @Test func `M2: an outage during login is a network error and no authentication failure`() {
    var machine = machine(.noUser, .none)
    _ = machine.apply(.signIn(sameUser: nil))
    let error = SampleErrors.network
    #expect(
      machine.apply(.signInFailed(epoch: 5, error)) == [.announce(.networkError(error)), .finish(.failed(error))])
    #expect(machine.state == .noUser)
  }

  @Test(arguments: [Machine.Phase.noUser, .loggedOut])
  func `M2: an anonymous user is made where there is none`(phase: Machine.Phase) {
    var machine = machine(phase, .none)
    #expect(machine.apply(.userNeeded) == [.createAnonymous])
    #expect(machine.apply(.userNeeded) == [])
    #expect(
      machine.apply(.anonymousAccepted(epoch: 5)) == [
        .adopt(wipe: false), .announce(.anonymousUserCreated), .finish(.done),
      ])
    #expect(machine.state == .anonymous)
  }

  // MARK: M3

  @Test func `M3: a logout tells the vendor, then wipes`() {
    var machine = machine(.authenticated, .usable)
    #expect(machine.apply(.signOut(localOnly: false)) == [.record, .endSession])
    #expect(machine.isSigningOut)
    #expect(
      machine.apply(.signOutAccepted(epoch: 5)) == [
        .wipe, .announce(.loggedOut(.explicit)), .finish(.signedOut(informed: true)),
      ])
    #expect(machine.state == .loggedOut)
  }

  @Test func `M3: an outage keeps everything, unless the logout is local only`() {
    var kept = machine(.authenticated, .usable)
    _ = kept.apply(.signOut(localOnly: false))
    let error = SampleErrors.serverError
    #expect(kept.apply(.signOutFailed(epoch: 5, error)) == [.announce(.networkError(error)), .finish(.failed(error))])
    #expect(kept.mayHandOut)
    #expect(kept.apply(.signOut(localOnly: true)).first == .wipe)
  }

  @Test func `M3: an expired token asks the bridge once, and without a fresh one the logout is local`() {
    var machine = machine(.reauthNeeded, .expired)
    #expect(
      machine.apply(.signOut(localOnly: false)) == [
        .record, .ask(attempt: 1, isRefusal: true, Machine.expiredError),
      ])
    #expect(machine.isSigningOut)
    var informed = machine
    #expect(informed.apply(.answered(epoch: 5, .credential)) == [.endSession])
    #expect(informed.apply(.signOutAccepted(epoch: 5)).last == .finish(.signedOut(informed: true)))
    #expect(
      machine.apply(.answered(epoch: 5, .failed(SampleErrors.failed))).last == .finish(.signedOut(informed: false)))
  }

  @Test func `M3: a refusal of the logout is a local logout`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.signOut(localOnly: false))
    #expect(machine.apply(.signOutFailed(epoch: 5, SampleErrors.refused)).last == .finish(.signedOut(informed: false)))
    #expect(machine.state == .loggedOut)
  }

  @Test(arguments: [Machine.Phase.noUser, .loggedOut])
  func `M3: without a user a logout wipes nothing and is fine`(phase: Machine.Phase) {
    var machine = machine(phase, .none)
    #expect(machine.apply(.signOut(localOnly: false)) == [.finish(.signedOut(informed: false))])
  }

  // MARK: M4

  @Test func `M4: a denial is an implicit logout`() {
    var machine = machine(.authenticated, .expired)
    _ = machine.apply(.renew(.bridge))
    #expect(
      machine.apply(.answered(epoch: 4, .denied(SampleErrors.denied))) == [
        .wipe, .announce(.authenticationFailed(SampleErrors.denied)), .announce(.loggedOut(.implicit)),
        .finish(.failed(SampleErrors.denied)),
      ])
    #expect(machine.state == .loggedOut)
  }

  @Test(arguments: [1, 2, 3])
  func `M4: the budget of refused tokens is spent before the implicit logout`(attempts: Int) {
    var machine = machine(.authenticated, .usable, attempts: attempts)
    var actions = machine.apply(.expired(means: .bridge))
    for attempt in 1...attempts {
      guard case .ask(attempt, true, _)? = actions.last else {
        Issue.record("attempt \(attempt) is not asked for")
        return
      }
      #expect(machine.apply(.answered(epoch: 4, .credential)) == [.verify])
      actions = machine.apply(.credentialRefused(epoch: 4, SampleErrors.refused))
    }
    #expect(actions.first == .wipe)
    #expect(machine.state == .loggedOut)
  }

  @Test func `M4: refused supplies don't cost a user whose token lives`() {
    var machine = machine(.authenticated, .usable, attempts: 1)
    _ = machine.apply(.renew(.bridge))
    _ = machine.apply(.answered(epoch: 4, .credential))
    let error = SampleErrors.refused
    #expect(
      machine.apply(.credentialRefused(epoch: 4, error)) == [.announce(.refreshFailed(error)), .finish(.failed(error))])
    #expect(machine.mayHandOut)
  }

  @Test func `M4: a failing provider leads to reauthNeeded, told once however often it fails`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.expired(means: .bridge))
    let error = SampleErrors.failed
    var cause = Machine.expiredError
    cause.hints = ["No new credential came (providerFailed): The provider failed."]
    #expect(
      machine.apply(.answered(epoch: 4, .failed(error))) == [
        .announce(.refreshFailed(error)), .record, .announce(.authenticationFailed(cause)), .finish(.failed(error)),
      ])
    #expect(machine.state == .reauthNeeded)
    for _ in 0..<3 {
      _ = machine.apply(.renew(.bridge))
      #expect(
        machine.apply(.answered(epoch: 4, .failed(error))) == [
          .announce(.refreshFailed(error)), .finish(.failed(error)),
        ])
    }
    _ = machine.apply(.renew(.bridge))
    _ = machine.apply(.answered(epoch: 4, .credential))
    _ = machine.apply(.credentialAccepted(epoch: 4))
    #expect(machine.state == .authenticated)
  }

  // MARK: M5, M6, M7

  @Test func `M5: expiry without a provider is told in the seed's words`() {
    var machine = machine(.authenticated, .usable)
    let actions = machine.apply(.expired(means: .none))
    guard actions.first == .record, case .announce(.authenticationFailed(let error))? = actions.last else {
      Issue.record("other actions: \(actions)")
      return
    }
    #expect(error.reason == .expiredJWT)
    #expect(error.message.hasPrefix("The JWT has expired"))
    #expect(machine.apply(.expired(means: .none)) == [])
  }

  @Test func `M5: a refusal with a failing provider is told in the vendor's words`() {
    var machine = machine(.authenticated, .usable)
    let error = SampleErrors.refused
    _ = machine.apply(.refused(error, means: .bridge))
    var cause = error
    cause.hints = ["No new credential came (providerFailed): The provider failed."]
    #expect(
      machine.apply(.answered(epoch: 4, .failed(SampleErrors.failed))).contains(.announce(.authenticationFailed(cause)))
    )
    // The next request to the bridge carries the vendor's error too.
    #expect(machine.apply(.renew(.bridge)) == [.ask(attempt: 1, isRefusal: true, error)])
  }

  @Test func `R8: a clock that is set back revives what had only ended`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.expired(means: .none))
    #expect(machine.state == .reauthNeeded)
    #expect(machine.apply(.revived) == [.record, .announce(.tokenRefreshed)])
    #expect(machine.state == .authenticated)
    #expect(machine.mayHandOut)
    #expect(machine.apply(.revived) == [])
    _ = machine.apply(.refused(SampleErrors.refused, means: .none))
    #expect(machine.apply(.revived) == [])
    #expect(machine.state == .reauthNeeded)
  }

  @Test func `M6: a refusal asks with the error and recovers with tokenRefreshed alone`() {
    var machine = machine(.authenticated, .usable)
    let error = SampleErrors.refused
    #expect(machine.apply(.refused(error, means: .bridge)) == [.ask(attempt: 1, isRefusal: true, error)])
    #expect(machine.state == .refreshing)
    #expect(machine.apply(.answered(epoch: 4, .credential)) == [.verify])
    #expect(
      machine.apply(.credentialAccepted(epoch: 4)) == [
        .adoptCredential(verified: true), .announce(.tokenRefreshed), .finish(.done),
      ])
  }

  @Test func `M6: when the vendor is away a checked token is taken unverified`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.renew(.bridge))
    _ = machine.apply(.answered(epoch: 4, .credential))
    let error = SampleErrors.network
    #expect(
      machine.apply(.credentialUnverifiable(epoch: 4, error)) == [
        .adoptCredential(verified: false), .announce(.tokenRefreshed), .announce(.networkError(error)), .finish(.done),
      ])
  }

  @Test func `M7: a report withholds the token until it was renewed or probed`() {
    var machine = machine(.authenticated, .usable)
    let report = SDKError(.vendor, .invalidAuth, "An app says so.", httpStatus: 403, vendorCode: "blocked")
    #expect(machine.apply(.reported(report, means: .none)) == [.probe])
    #expect(!machine.mayHandOut)
    #expect(machine.apply(.probed(epoch: 4, .accepted)) == [.finish(.done)])
    #expect(machine.mayHandOut)
    _ = machine.apply(.reported(report, means: .none))
    let error = SampleErrors.refused
    #expect(
      machine.apply(.probed(epoch: 4, .refused(error))) == [
        .record, .announce(.authenticationFailed(error)), .finish(.failed(error)),
      ])
    #expect(machine.state == .reauthNeeded)
  }

  @Test func `A token that expires while another login is under way is renewed afterwards`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.signIn(sameUser: true))
    #expect(machine.apply(.expired(means: .none)) == [])
    _ = machine.apply(.signInFailed(epoch: 5, SampleErrors.refused))
    #expect(machine.apply(.expired(means: .none)).first == .record)
    #expect(machine.state == .reauthNeeded)
  }

  @Test func `Whoever logs in on a locked instance finds nothing of the former user`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.wipeFailed)
    #expect(machine.state == .locked)
    _ = machine.apply(.signIn(sameUser: nil))
    #expect(machine.apply(.signInAccepted(epoch: machine.epoch)).first == .adopt(wipe: true))
  }
}
