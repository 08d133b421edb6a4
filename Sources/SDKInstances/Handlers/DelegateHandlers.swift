import DelegateBridge
import JSONRPC
import SDKProtocol

/// The handlers of `delegate.attach` and `delegate.detach`.
enum DelegateHandlers {
  /// The range of the time that a delegate may have to respond, in seconds.
  private static let timeouts = 0.1...BridgeQuestion.personalTime

  static func register(in router: inout CallRouter, registry: InstanceRegistry, delegates: Delegates) {
    router.register(DelegateAttach.self, about: { .listed($0.instances) }) { params, context in
      let timeout = params.timeout?.value
      guard timeout.map(timeouts.contains) ?? true else {
        throw RPCError.invalidParams("The member timeout must be from 0.1 to 600 seconds.", member: "timeout")
      }
      var instances: [InstanceID: HostedInstance] = [:]
      for id in params.instances {
        instances[id] = try registry.find(id, for: context.peer, atLeast: .control).instance
      }
      try await delegates.attach(
        context.session, to: instances.values.sorted { $0.id < $1.id }.map(\.delegated),
        timeout: timeout.map { .seconds($0) })
      context.afterReply { delegates.activate(context.session) }
      return Empty()
    }
    router.register(DelegateDetach.self, about: { .listed($0.instances ?? []) }) { params, context in
      guard let ids = params.instances else {
        await delegates.detachAll(context.session)
        return Empty()
      }
      let detached = await delegates.detach(context.session, from: ids)
      // The other ids: missing and hidden instances get the same error.
      for id in ids where !detached.contains(id) { _ = try registry.find(id, for: context.peer, atLeast: .observe) }
      return Empty()
    }
  }
}

extension CallSubject {
  /// Returns the first instances of a list, as many as one call can be about. Methods refuse longer lists.
  fileprivate static func listed(_ ids: [InstanceID]) -> CallSubject {
    .instances(Array(ids.prefix(Delegates.maximumPerConnection)))
  }
}
