import SDKProtocol
import Testing

@testable import SDKInstances

/// The rows F3 and F5 of `rows.md`: authentication on demand, the refresh token first, the owner's decision after a
/// failure, and the fallback to a guest.
struct GuestEdgeTests {
  typealias Machine = AuthenticationMachine

  private let refused = SampleErrors.refused
  private let both = RenewalMeans(itself: true, bridge: true)

  private func machine(_ phase: Machine.Phase, _ standing: Machine.Standing) -> Machine {
    Machine(phase: phase, standing: standing, epoch: 4, policy: .guest)
  }

  @Test func `F3: the owner's no makes a guest, and nothing has failed`() {
    for answer in [Machine.Answer.declined(SampleErrors.none), .denied(SampleErrors.denied)] {
      var machine = machine(.noUser, .none)
      #expect(machine.apply(.renew(.bridge)) == [.ask(attempt: 1, isRefusal: false, nil)])
      let actions = machine.apply(.answered(epoch: 4, answer))
      #expect(actions.count == 2)
      #expect(actions.first == .record)
      #expect(machine.state == .anonymous)
    }
  }

  @Test func `F3: refused settings are followed by the question whether to go on, told once`() {
    var machine = machine(.noUser, .none)
    _ = machine.apply(.renew(.bridge))
    _ = machine.apply(.answered(epoch: 4, .credential))
    #expect(
      machine.apply(.credentialRefused(epoch: 4, refused)) == [
        .announce(.authenticationFailed(refused)), .confirm(refused),
      ])
    _ = machine.apply(.confirmed(epoch: 4, .proceed))
    _ = machine.apply(.answered(epoch: 4, .credential))
    // The budget of attempts is spent, and the instance stays a guest.
    #expect(machine.apply(.credentialRefused(epoch: 4, refused)) == [.record, .finish(.failed(refused))])
    #expect(machine.state == .anonymous)
  }

  @Test func `F5: refresh comes first, then the event and the question, then settings`() {
    var machine = machine(.authenticated, .usable)
    #expect(machine.apply(.refused(refused, means: both)) == [.renewItself])
    #expect(
      machine.apply(.itselfRefused(epoch: 4, refused, means: .bridge)) == [
        .announce(.authenticationFailed(refused)), .confirm(refused),
      ])
    #expect(machine.apply(.confirmed(epoch: 4, .proceed)) == [.ask(attempt: 1, isRefusal: true, refused)])
    #expect(machine.apply(.answered(epoch: 4, .credential)) == [.verify])
    #expect(machine.apply(.credentialAccepted(epoch: 4)).contains(.announce(.tokenRefreshed)))
    #expect(machine.state == .authenticated)
  }

  @Test func `F5: a failing provider keeps the user, is asked the same again, and nobody is told twice`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.refused(refused, means: .bridge))
    let actions = machine.apply(.confirmed(epoch: 4, .failed(SampleErrors.failed)))
    #expect(!actions.contains(.wipe))
    #expect(machine.state == .reauthNeeded)
    let again = machine.apply(.renew(.bridge))
    #expect(again.count == 1)
    #expect(machine.activity == .confirming(attempt: 1))
  }

  @Test func `F5: an outage while refreshing neither asks nor tells of a failure`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.refused(refused, means: both))
    let actions = machine.apply(.itselfFailed(epoch: 4, SampleErrors.serverError))
    #expect(actions.contains(.announce(.networkError(SampleErrors.serverError))))
    #expect(!actions.contains(.announce(.authenticationFailed(SampleErrors.serverError))))
    #expect(machine.state == .reauthNeeded)
    // The refresh token was not refused, so it is tried again before a request goes to the owner.
    #expect(machine.apply(.renew(both)) == [.renewItself])
  }

  @Test func `F5: a token that is refused while refreshing is out of reach makes no guest`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.reported(SampleErrors.refused, means: both))
    #expect(machine.apply(.itselfFailed(epoch: 4, SampleErrors.network)).last == .probe)
    let actions = machine.apply(.probed(epoch: 4, .refused(refused), means: both))
    #expect(!actions.contains(.wipe))
    #expect(machine.state == .reauthNeeded)
  }

  @Test func `F5: who declines to bring new settings keeps those that work`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.renew(.bridge))
    #expect(machine.apply(.answered(epoch: 4, .declined(SampleErrors.none))) == [.finish(.failed(SampleErrors.none))])
    #expect(machine.mayHandOut)
  }

  @Test func `F5: a spent refresh token without an owner keeps the user`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.renew(.init(itself: true)))
    let actions = machine.apply(.itselfRefused(epoch: 4, SampleErrors.interrupted, means: .none))
    #expect(actions.contains(.announce(.authenticationFailed(SampleErrors.interrupted))))
    #expect(!actions.contains(.wipe))
    #expect(machine.state == .reauthNeeded)
  }
}
