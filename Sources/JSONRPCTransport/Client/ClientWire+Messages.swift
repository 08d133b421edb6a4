internal import JSONRPC
internal import Synchronization

extension ClientWire {
  /// Handles a line. Returns the reason if it ends the connection, else `nil`.
  func receive(_ line: ArraySlice<UInt8>) -> ClientConnectionError? {
    do {
      switch try RPCFrame(line) {
      case .single(let message): return receive(message)
      case .batch(let messages):
        for message in messages { if let reason = receive(message) { return reason } }
        return nil
      }
    } catch {
      return .badMessage(error.message)
    }
  }

  private func receive(_ message: RPCMessage) -> ClientConnectionError? {
    switch message {
    case .response(.number(let number), let result):
      let waiter = state.withLock { state in
        state.hasAnswered = true
        state.lastWord = nil
        return number.integer.flatMap { state.calls.remove($0) }
      }
      waiter?.resume(with: result.mapError { $0 as any Error })
    case .response(.null, .failure(let error)):
      // The daemon could not read the id. If there is only one call, it is that one. The daemon may read nothing more on
      // this connection. Set before the call throws: its caller may call again at once.
      let (isFound, waiter) = state.withLock { state in
        let only = state.calls.removeOnly()
        state.takesNoCalls = true
        if only.isFound { state.ending = .closed } else { state.lastWord = error }
        return only
      }
      waiter?.resume(throwing: error)
      if isFound { return .closed }
    case .response: break
    case .notification(let call) where call.method == TransportMethod.cancelRequest:
      guard let id = call.params?["id"].flatMap(RPCID.init) else { break }
      state.withLock { $0.answers[id] }?.cancel()
    case .notification(let call):
      let notification = ServerNotification(method: call.method, params: call.params)
      if case .dropped = notifications.yield(notification) { return .overflow }
    case .request(let request): answer(request)
    case .invalid(_, let error), .invalidResponse(_, let error): return .badMessage(error.message)
    }
    return nil
  }

  /// Runs the handler of a request in a task that `closed()` waits for.
  private func answer(_ request: RPCRequest) {
    guard let onRequest else {
      return send(RPCText.response(id: request.id, error: .methodNotFound(request.method, nearest: nil)))
    }
    state.withLock { state in
      guard state.answers[request.id] == nil else { return }
      state.answers[request.id] = Task {
        let text: [UInt8]
        do throws(RPCError) {
          let result = try await onRequest(request.method, request.params)
          text = RPCText.response(id: request.id, result: JSONWriter.bytes(of: result))
        } catch {
          text = RPCText.response(id: request.id, error: error)
        }
        // Removed before the response is sent: the daemon may reuse the id as soon as it has the response.
        self.state.withLock { $0.answers[request.id] = nil }
        send(text)
      }
    }
  }
}
