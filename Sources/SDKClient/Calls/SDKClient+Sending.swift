internal import JSONRPC
internal import JSONRPCTransport

extension SDKClient {
  /// Sends a call, and repeats it where that is safe.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  func send(_ name: String, _ params: JSON, isRead: Bool, timeout: Duration?) async throws -> JSON {
    let options = link.options
    try link.beginCall()
    defer { link.endCall() }
    let deadline = (timeout ?? options.callTimeout).map { ContinuousClock.now + $0 }
    var attempts = CallAttempts(
      name, isRead: isRead, schedule: options.readRetry, patience: options.rateLimitPatience)
    while true {
      var wasSent = false
      let failure: SDKClientError
      do {
        return try await attempt(name, params, deadline) { wasSent = true }
      } catch ClientConnectionError.notSent {
        (failure, wasSent) = (.closed, false)
      } catch {
        failure = try link.failure(error)
      }
      switch attempts.verdict(
        on: failure, wasSent: wasSent, wasConnected: link.wasConnected, random: options.random())
      {
      case .fail(let error): throw error
      case .again(let pause):
        // Throw the actual cause now: after the pause only `timeout` would be left to throw.
        if let deadline, .now + pause >= deadline { throw failure }
        try await options.sleep(pause)
      }
    }
  }

  private func attempt(
    _ name: String, _ params: JSON, _ deadline: ContinuousClock.Instant?, _ willSend: () -> Void
  ) async throws -> JSON {
    let left = deadline.map { $0 - .now }
    if let left, left <= .zero { throw SDKClientError.timeout }
    if link.options.callsBlock { return try link.callBlocking(name, params, timeout: left, willSend: willSend) }
    let connection = try await link.shared(until: deadline)
    willSend()
    do {
      return try await connection.call(method: name, params: params, timeout: deadline.map { $0 - .now })
    } catch {
      // A draining daemon responds to nothing more on this connection. A lost connection may be noticed here before
      // `takesCalls` reports it.
      let isLost = (error as? ClientConnectionError).map { $0 == .notSent || $0 == .closed } ?? false
      if isLost || !connection.takesCalls || (error as? RPCError)?.reason == "shuttingDown" { link.forget(connection) }
      throw error
    }
  }
}
