public import SDKClient
internal import Synchronization

extension ScriptedDaemon {
  /// Emits an event of an instance: sends it to the matching subscriptions, and keeps it for clients that resume from
  /// an earlier cursor.
  ///
  /// - Parameters:
  ///   - type: the event's type.
  ///   - instance: the instance that the event is about.
  ///   - kind: the instance's kind.
  ///   - service: the service that the event is about, in kinds that have services.
  ///   - data: the event's data.
  ///   - labels: the instance's labels, for subscriptions that filter by labels.
  ///   - time: the time of the event.
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

  /// Discards all events so far, as a daemon does after their retention time. A client that resumes from an earlier
  /// cursor gets a gap.
  public func forgetEvents() { state.withLock { $0.events.forget() } }

  /// Waits until at least `count` subscriptions exist. An event emitted earlier does not reach a subscription that
  /// starts without a cursor.
  ///
  /// - Throws: `ScriptedTimeout` when there are fewer after `limit`.
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

  /// Sets the answer to a method, computed from the params and the connection of the call.
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
