import SDKProtocol
import Testing

@testable import SDKInstances

/// The rows S9 and S10 of `rows.md`: an SDK that exchanges its identity again when the vendor refuses the token.
struct MachineExchangeTests {
  typealias Machine = AuthenticationMachine

  private func machine(_ phase: Machine.Phase, _ standing: Machine.Standing) -> Machine {
    Machine(phase: phase, standing: standing, epoch: 4, policy: .opaque)
  }

  @Test func `A refused token is exchanged again, and a second refusal locks`() {
    var machine = machine(.authenticated, .usable)
    let error = SampleErrors.refused
    #expect(machine.apply(.refused(error, means: .init(itself: true))) == [.renewItself])
    #expect(
      machine.apply(.itselfRefused(epoch: 4, error, means: .none)) == [
        .record, .announce(.authenticationFailed(error)), .finish(.failed(error)),
      ])
    #expect(machine.isLockedByVendor)
    #expect(machine.apply(.renew(.init(itself: true))) == [.renewItself])
    #expect(machine.apply(.renewedItself(epoch: 4)).contains(.announce(.tokenRefreshed)))
    #expect(machine.phase == .authenticated)
  }

  @Test func `A token that nobody refused outlives a refused renewal`() {
    var machine = machine(.authenticated, .usable)
    let error = SampleErrors.refused
    _ = machine.apply(.renew(.init(itself: true)))
    #expect(
      machine.apply(.itselfRefused(epoch: 4, error, means: .none)) == [
        .announce(.refreshFailed(error)), .finish(.failed(error)),
      ])
    #expect(machine.mayHandOut)
  }

  @Test func `A reported token locks only when the vendor refuses it too`() {
    let error = SampleErrors.refused
    var reported = machine(.authenticated, .usable)
    _ = reported.apply(.reported(SampleErrors.refused, means: .init(itself: true)))
    #expect(
      reported.apply(.itselfRefused(epoch: 4, error, means: .none)) == [.announce(.refreshFailed(error)), .probe])
    var refused = reported
    _ = reported.apply(.probed(epoch: 4, .accepted))
    #expect(reported.mayHandOut)
    _ = refused.apply(.probed(epoch: 4, .refused(error), means: .init(itself: true)))
    #expect(refused.isLockedByVendor)
  }

  @Test func `Who may be asked is asked as after a refusal, and failing them locks nobody`() {
    let error = SampleErrors.refused
    let both = RenewalMeans(itself: true, bridge: true)
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.reported(SampleErrors.refused, means: both))
    #expect(
      machine.apply(.itselfRefused(epoch: 4, error, means: both)) == [.ask(attempt: 1, isRefusal: true, error)])
    #expect(machine.apply(.answered(epoch: 4, .failed(SampleErrors.failed))).contains(.probe))
    #expect(
      machine.apply(.probed(epoch: 4, .refused(error), means: both)) == [
        .record, .announce(.authenticationFailed(error)), .finish(.failed(error)),
      ])
    #expect(machine.phase == .reauthNeeded)
  }

  @Test func `Where nothing helps nobody is asked and the identity is locked, but a token lives on`() {
    let error = SampleErrors.forbidden
    let both = RenewalMeans(itself: true, bridge: true)
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.renew(both))
    var reported = self.machine(.authenticated, .usable)
    _ = reported.apply(.reported(SampleErrors.refused, means: both))
    _ = machine.apply(.itselfRefused(epoch: 4, error, means: both, isFinal: true))
    #expect(machine.mayHandOut)
    _ = reported.apply(.itselfRefused(epoch: 4, error, means: both, isFinal: true))
    #expect(reported.isLockedByVendor)
  }

  @Test func `A reported token that is dead does not lock while the exchange was only out of reach`() {
    var machine = machine(.authenticated, .usable)
    let itself = RenewalMeans(itself: true)
    _ = machine.apply(.reported(SampleErrors.refused, means: itself))
    #expect(machine.apply(.itselfFailed(epoch: 4, SampleErrors.network)).contains(.probe))
    _ = machine.apply(.probed(epoch: 4, .refused(SampleErrors.refused), means: itself))
    #expect(machine.phase == .reauthNeeded)
  }

  @Test func `A renewal that the network ends tells of the network`() {
    var machine = machine(.authenticated, .usable)
    _ = machine.apply(.refused(SampleErrors.refused, means: .init(itself: true)))
    let actions = machine.apply(.itselfFailed(epoch: 4, SampleErrors.network))
    #expect(actions.contains(.announce(.networkError(SampleErrors.network))))
    #expect(machine.phase == .reauthNeeded)
  }
}
