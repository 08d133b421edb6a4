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
    let first = try resolved(service)
    let (identity, connection, epoch) = (first.identity, first.connection.open, first.machine.epoch)
    do {
      let value = try await operation { () throws(SDKError) in try await request(identity, connection) }
      return (value, identity, epoch)
    } catch let error as SDKError where adapter.isRefusal(error) {
      try await renewed(after: error, of: identity, on: service)
    }
    let next = try resolved(service)
    let (renewed, again, nextEpoch) = (next.identity, next.connection.open, next.machine.epoch)
    let value = try await operation { () throws(SDKError) in try await request(renewed, again) }
    return (value, renewed, nextEpoch)
  }

  /// Waits for the renewal of a credential that the vendor has refused. Begins one unless one is in progress.
  ///
  /// - Throws: the refusal when no renewal is possible; otherwise the renewal's failure.
  private func renewed(after error: SDKError, of identity: IdentityRecord, on service: String?) async throws {
    guard let pending = try await recovery(from: error, of: identity, on: service) else { return }
    if case .failed(let failure) = try await pending.outcome.value() { throw failure }
  }

  private func recovery(
    from error: SDKError, of identity: IdentityRecord, on service: String?
  ) async throws -> Progress? {
    await changing.lock()
    defer { changing.unlock() }
    let lane = try resolved(service)
    guard lane.identity.subject == identity.subject else {
      throw SDKError(.state, .superseded, "The user of \(id) changed meanwhile; try again.", instance: id)
    }
    // Another request was refused before, and there is a new credential already.
    if lane.machine.mayHandOut, lane.identity.credential?.tokenId != identity.credential?.tokenId { return nil }
    if !lane.machine.isRecovering {
      let isAnonymous = lane.machine.phase == .anonymous
      await take(isAnonymous ? .reported(error, means: .none) : .refused(error, means: means(lane)), on: lane)
    }
    guard lane.machine.isRecovering, let progress = lane.progress else { throw error.about(id) }
    return progress
  }
}
