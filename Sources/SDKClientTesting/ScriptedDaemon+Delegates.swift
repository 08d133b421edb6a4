internal import Concurrency
public import SDKClient
internal import Synchronization

/// A connection that is attached as a delegate of instances.
struct ScriptedDelegate {
  weak var connection: ScriptedConnection?
  var instances: Set<InstanceID>
}

extension ScriptedDaemon {
  /// Sends a question to the delegate that attached to an instance last, as the daemon does when a credential is
  /// needed. Waits until one is attached.
  ///
  /// - Parameters:
  ///   - question: the question's name.
  ///   - instance: the instance that the question is about.
  ///   - kind: the instance's kind.
  ///   - service: the service that the question is about, in kinds that have services.
  ///   - externalId: the user who needs the credential.
  ///   - error: the cause of the question, such as `["reason": "expiredJWT"]` with `.invalidAuth`.
  ///   - limit: the time limit for a delegate to attach, and again for its answer.
  /// - Returns: the answer as it is sent to the daemon, such as `["token": …]` or `["defer": true]`.
  /// - Throws: the delegate's `RPCError`, such as `providerDenied`; `ScriptedTimeout`.
  public func ask(
    _ question: DelegateQuestion.Name, _ instance: InstanceID, kind: KindName = KindName("zendesk.messaging"),
    service: String? = nil, externalId: String? = nil, error: JSONObject? = nil, within limit: Duration = .seconds(10)
  ) async throws -> JSON {
    try await ScriptedTimeout.wait(for: "a delegate of \(instance)", within: limit) { delegate(of: instance) != nil }
    guard let onRequest = delegate(of: instance)?.onRequest else {
      throw ScriptedTimeout(description: "the delegate of \(instance) has gone")
    }
    var params: JSONObject = [
      "version": 1, "question": .string(question.rawValue), "instance": .string(instance.name),
      "kind": .string(kind.name), "attempt": 1,
      "deadline": .string(Timestamp(secondsSince1970: Timestamp.now.secondsSince1970 + 10).description),
    ]
    if let service { params["service"] = .string(service) }
    if let externalId { params["user"] = ["externalId": .string(externalId)] }
    if let error { params["error"] = .object(error) }
    let question = params
    do {
      return try await withTimeout(limit) {
        try await onRequest("delegate.\(question["question"]?.stringValue ?? "")", .object(question))
      }
    } catch is TimeoutError {
      throw ScriptedTimeout(description: "the delegate of \(instance) has not answered within \(limit)")
    }
  }

  /// Returns the number of connections that are attached to an instance.
  public func delegateCount(of instance: InstanceID) -> Int {
    state.withLock { state in
      state.delegates.count { $0.connection?.isClosed == false && $0.instances.contains(instance) }
    }
  }

  private func delegate(of instance: InstanceID) -> ScriptedConnection? {
    state.withLock { state in
      state.delegates.last { $0.connection?.isClosed == false && $0.instances.contains(instance) }?.connection
    }
  }

  func answerDelegates() {
    on(DelegateAttach.self) { [weak self] params, connection in
      self?.state.withLock { state in
        let known = state.delegates.first { $0.connection === connection }?.instances ?? []
        state.delegates.removeAll { $0.connection === connection }
        state.delegates.append(
          ScriptedDelegate(connection: connection, instances: known.union(params.instances)))
      }
      return Empty()
    }
    on(DelegateDetach.self) { [weak self] params, connection in
      self?.state.withLock { state in
        for index in state.delegates.indices where state.delegates[index].connection === connection {
          state.delegates[index].instances.subtract(params.instances ?? Array(state.delegates[index].instances))
        }
      }
      return Empty()
    }
  }
}
