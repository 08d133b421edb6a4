import Concurrency
import SDKProtocol

extension HostedInstance {
  /// Sends a request in the user's name. If the vendor refuses the credential, sends it once more with a renewed one
  /// (`sdks.md`, M6).
  ///
  /// - Returns: the answer, with the identity and the epoch of the request that got it.
  func replaying<T: Sendable>(
    on service: String?,
    _ request:
      @escaping @Sendable @concurrent (IdentityRecord, (any RealtimeConnection)?) async throws(SDKError) -> T
  ) async throws -> (value: T, identity: IdentityRecord, epoch: UInt64) {
    let service = try resolve(service)
    let first = try resolved(service)
    let (identity, connection, epoch) = (first.identity, connections[service], first.machine.epoch)
    do {
      let value = try await operation { () throws(SDKError) in try await request(identity, connection) }
      return (value, identity, epoch)
    } catch let error as SDKError where core.adapter.isRefusal(error) {
      try await renewed(after: error, of: identity, on: service)
    }
    let next = try resolved(service)
    let (renewed, again, nextEpoch) = (next.identity, connections[service], next.machine.epoch)
    let value = try await operation { () throws(SDKError) in try await request(renewed, again) }
    return (value, renewed, nextEpoch)
  }

  /// Waits for the renewal of a credential that the vendor has refused. Begins one unless one is in progress.
  ///
  /// - Throws: the refusal when no renewal is possible; otherwise the renewal's failure.
  private func renewed(after error: SDKError, of identity: IdentityRecord, on service: String?) async throws {
    let pending = try await change(service) { core, context -> (step: Step, value: Result<PendingOutcome?, SDKError>) in
      let state = try core.existing(service)
      guard state.identity.subject == identity.subject else {
        throw SDKError(.state, .superseded, "The user of \(id) changed meanwhile; try again.", instance: id)
      }
      // Another request was refused before, and there is a new credential already.
      if state.machine.mayHandOut, state.identity.credential?.tokenId != identity.credential?.tokenId {
        return (Step(), .success(nil))
      }
      let step = core.requestRefused(error, on: service, context)
      guard let next = core[service], next.machine.isRecovering, let activity = next.running else {
        return (step, .failure(error.about(id)))
      }
      return (step, .success(outcome(of: activity.id)))
    }
    if case .failed(let failure)? = try await pending.get()?.value() { throw failure }
  }

  /// Runs work at the vendor to its end, even if the caller is cancelled, and returns its result.
  func operation<T: Sendable>(
    _ work: @escaping @Sendable @concurrent () async throws(SDKError) -> T
  ) async throws -> T {
    let outcome = Promise<T>()
    environment.operations.start {
      do throws(SDKError) {
        outcome.resolve(.success(try await work()))
      } catch {
        outcome.resolve(.failure(error))
      }
    }
    do {
      return try await outcome.value()
    } catch let error as SDKError {
      throw error.about(id)
    }
  }
}
