public import SDKClient
internal import Synchronization

extension ScriptedDaemon {
  /// Something happens to an instance: the event goes to those who are subscribed, and is kept for those who come back
  /// with an earlier cursor.
  ///
  /// - Parameters:
  ///   - kind: the instance's kind.
  ///   - labels: the instance's labels, for subscriptions that ask for some.
  /// - Returns: the event, with its cursor.
  @discardableResult
  public func emit(
    _ type: EventType, _ instance: InstanceID, kind: KindName = KindName("zendesk.messaging"), service: String? = nil,
    data: JSONObject = [:], labels: [String: String] = [:], at time: Timestamp = .now
  ) -> Event {
    state.withLock { state in
      state.events.add(
        Event(
          cursor: "", time: time, instance: instance, kind: kind, service: service, type: type, data: data),
        labels: labels)
    }
  }

  /// Forgets the events so far, as a daemon whose retention is over: who comes back with an earlier cursor gets a gap.
  public func forgetEvents() { state.withLock { $0.events.forget() } }

  /// Waits until so many subscriptions are there: what is emitted earlier is not for whoever begins now.
  ///
  /// - Throws: `ScriptedTimeout` when they were not by then.
  public func waitForSubscriptions(_ count: Int = 1, within limit: Duration = .seconds(10)) async throws {
    try await ScriptedTimeout.wait(for: "\(count) subscriptions", within: limit) {
      state.withLock { $0.events.subscriptionCount } >= count
    }
  }

  func answerSubscriptions() {
    on(EventsSubscribe.self) { [weak self] params, connection in
      guard let self else { return .init(subscription: "", cursor: "") }
      return self.state.withLock { $0.events.subscribe(params, connection) }
    }
    on(EventsResume.self) { [weak self] params, connection in
      self?.state.withLock { $0.events.resume(params.subscription, params.since, connection) }
      return Empty()
    }
    on(EventsUnsubscribe.self) { [weak self] params, connection in
      self?.state.withLock { $0.events.unsubscribe(params.subscription, connection) }
      return Empty()
    }
  }

  /// An answer that depends on the connection.
  func on<M: RPCMethod>(
    _ method: M.Type, _ answer: @escaping @Sendable (M.Params, ScriptedConnection) throws -> M.Result
  ) {
    state.withLock { state in
      state.answers[M.name] = { params, connection in
        try JSONValueEncoder.encode(try answer(try M.decode(params), connection))
      }
    }
  }
}
