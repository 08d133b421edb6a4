internal import JSONRPC
internal import JSONRPCTransport
internal import SDKProtocol
internal import Synchronization

/// The keeper of a delegate's connection: attaches it, and replaces it when it is lost.
final class DelegateKeeper: Sendable {
  private struct State {
    var connection: (any SDKConnection)?
    var status = DelegateStatus.attached
    var isDetaching = false
  }

  /// The stream of statuses, each sent when it begins. Of the unread ones the latest 16 are kept.
  let statuses: AsyncStream<DelegateStatus>
  private let changes: AsyncStream<DelegateStatus>.Continuation
  private let link: DaemonLink
  private let params: DelegateAttach.Params
  private let onRequest: ClientConnection.RequestHandler
  private let state = Mutex(State())

  init(_ link: DaemonLink, _ params: DelegateAttach.Params, _ onRequest: @escaping ClientConnection.RequestHandler) {
    self.link = link
    self.params = params
    self.onRequest = onRequest
    (statuses, changes) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
  }

  /// The current status.
  var status: DelegateStatus { state.withLock { $0.status } }

  /// Opens a connection and attaches it.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  func attach() async throws {
    let connection = try await link.open { [weak self] method, params async throws(RPCError) in
      guard let self, !self.isRevoked else { return ["defer": true] }
      return try await self.onRequest(method, params)
    }
    // Set before the call: `detach` must reach a connection that is being attached.
    let isWanted = state.withLock { state in
      if !state.isDetaching { state.connection = connection }
      return !state.isDetaching
    }
    do {
      guard isWanted else { throw CancellationError() }
      _ = try await connection.call(
        method: DelegateAttach.name, params: try JSONValueEncoder.encode(params), timeout: link.options.callTimeout)
      try Task.checkCancellation()
    } catch {
      // `detach` may wait for its own call on this connection, and closes it then.
      if !isWanted || !isDetaching { connection.close() }
      throw try link.failure(error)
    }
    if !isDetaching { tell(.attached) }
  }

  private var isDetaching: Bool { state.withLock { $0.isDetaching } }

  /// Whether the delegate was detached before it was attached, so that it passes all questions.
  private var isRevoked: Bool { state.withLock { $0.isDetaching && $0.status != .attached } }

  /// Keeps the delegate attached until it is detached, cancelled, or refused for good.
  func run() async {
    var schedule = link.options.reconnect
    while let connection = state.withLock({ $0.connection }) {
      let begin = ContinuousClock.now
      let loss = await loss(of: connection)
      // A connection that lasts longer than the longest pause shows a healthy daemon, so the pauses start over.
      if .now - begin > schedule.longest { schedule = link.options.reconnect }
      guard let loss, !isDetaching else { return end(nil) }
      tell(.detached(loss))
      if let refusal = await attachAgain(&schedule) { return end(isDetaching ? nil : refusal.error) }
    }
    end(nil)
  }

  /// Detaches at the daemon and closes the connection. Returns the outcome of the call.
  func detach() async -> Result<Void, any Error> {
    let connection = state.withLock { state in
      state.isDetaching = true
      return state.connection
    }
    guard let connection, !connection.isClosed else { return .success(()) }
    defer { connection.close() }
    do {
      _ = try await connection.call(method: DelegateDetach.name, params: nil, timeout: link.options.callTimeout)
      return .success(())
    } catch {
      return .failure((try? link.failure(error)) ?? error)
    }
  }

  /// Waits until a connection ends. Returns the cause, or `nil` when this task was cancelled.
  private func loss(of connection: any SDKConnection) async -> SDKClientError? {
    do {
      for try await _ in connection.notifications {}
    } catch {
      return (try? link.failure(error)) ?? nil
    }
    return Task.isCancelled ? nil : .closed
  }

  private struct Refusal {
    let error: SDKClientError?
  }

  /// Tries to attach again after each pause of `schedule`. Returns `nil` on success, else the reason to stop trying.
  /// Its error is `nil` after a cancellation or a detach.
  private func attachAgain(_ schedule: inout RetrySchedule) async -> Refusal? {
    var last = SDKClientError.closed
    while let pause = schedule.next(random: link.options.random()) {
      do {
        try await link.options.sleep(max(pause, last.retryAfter ?? .zero))
        guard !isDetaching else { return Refusal(error: nil) }
        try await attach()
        return nil
      } catch {
        guard let failure = try? link.failure(error) else { return Refusal(error: nil) }
        guard failure.isPassing else { return Refusal(error: failure) }
        last = failure
      }
    }
    return Refusal(error: last)
  }

  private func tell(_ status: DelegateStatus) {
    state.withLock { $0.status = status }
    changes.yield(status)
  }

  private func end(_ error: SDKClientError?) {
    // A connection on which `detach` waits for its own call is closed by it.
    let connection = state.withLock { state -> (any SDKConnection)? in
      guard !state.isDetaching else { return nil }
      defer { state.connection = nil }
      return state.connection
    }
    connection?.close()
    tell(.ended(error))
    changes.finish()
  }
}
