import Concurrency
public import SDKProtocol

extension HostedInstance {
  /// Sends a request in the user's name. If the vendor refuses the credential, sends it once more with a renewed one
  /// (`rows.md`, M6).
  ///
  /// - Returns: the answer, with the identity and the epoch of the request that got it.
  public func replaying<T: Sendable>(
    on service: String? = nil,
    _ request:
      @escaping @Sendable @concurrent (IdentityRecord, (any RealtimeConnection)?) async throws(SDKError) -> T
  ) async throws -> (value: T, identity: IdentityRecord, epoch: UInt64) {
    let first = try await present(service)
    do {
      return (try await sent(first, request), first.identity, first.epoch)
    } catch let error as SDKError where first.adapter.isRefusal(error) {
      try await renew(after: error, of: first.identity, on: first.state.service)
    }
    let next = try await present(first.state.service)
    return (try await sent(next, request), next.identity, next.epoch)
  }

  /// Waits for the renewal of a credential that the vendor has refused. Begins one unless one is in progress.
  ///
  /// - Throws: the refusal when no renewal is possible; otherwise the renewal's failure.
  private func renew(after error: SDKError, of identity: IdentityRecord, on service: String?) async throws {
    let pending = try await actor.change(service) { try $0.requestRefused(error, of: identity, on: service, $1) }
    if let pending {
      if case .failed(let failure) = try await pending.value() { throw failure }
      return
    }
    // No renewal has begun, because it is not possible or there is a new credential already.
    let present = try await present(service)
    guard present.core.hasOther(than: identity.credential, on: service) else { throw error.about(id) }
  }

  /// Sends a request and returns its result. The request runs to its end even if the caller is cancelled.
  private func sent<T: Sendable>(
    _ present: InstanceActor.Snapshot,
    _ request:
      @escaping @Sendable @concurrent (IdentityRecord, (any RealtimeConnection)?) async throws(SDKError) -> T
  ) async throws -> T {
    let (identity, connection) = (present.identity, present.connection)
    do {
      return try await runToEnd { try await request(identity, connection) }
    } catch let error as SDKError {
      throw error.about(id)
    }
  }

  /// Runs work to its end, even if the caller is cancelled, and returns its result.
  func runToEnd<T: Sendable>(_ work: @escaping @Sendable @concurrent () async throws -> T) async throws -> T {
    let outcome = Promise<T>()
    environment.operations.start {
      do { outcome.resolve(.success(try await work())) } catch { outcome.resolve(.failure(error)) }
    }
    return try await outcome.value()
  }
}
