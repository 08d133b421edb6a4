import JSONRPC
import SDKProtocol

/// The handlers of `token.*`, `session.open` and `instance.currentUser`.
enum TokenHandlers {
  static func register(
    in router: inout Router<CallContext>, registry: InstanceRegistry, isReady: @escaping @Sendable () -> Bool
  ) {
    router.register(on: registry, TokenGet.self) { params, context in
      // The whole way of a cached token: no disk, no task, no hop.
      guard isReady(), params.service == nil, context.session.pendingWrites(params.instance).isEmpty,
        let instance = registry.hosted(params.instance),
        let role = registry.role(of: context.peer, on: instance), role >= .use
      else { return nil }
      return instance.cachedAnswer(minTTL: params.minTTL?.value ?? 0, http: params.http ?? false)
    } handler: { params, instance, _ in
      try refuseService(params.service)
      return try await instance.token(
        minTTL: params.minTTL?.value ?? 0, timeout: params.timeout?.value, http: params.http ?? false)
    }
    router.register(on: registry, TokenRefresh.self) { params, instance, context in
      try refuseService(params.service)
      let role = registry.role(of: context.peer, on: instance) ?? .use
      return try await instance.refresh(timeout: params.timeout?.value, resetting: role >= .control)
    }
    router.register(on: registry, TokenReject.self) { params, instance, _ in
      try refuseService(params.service)
      try await instance.reject(params.tokenId)
      return Empty()
    }
    router.register(on: registry, SessionOpen.self) { params, instance, _ in
      try refuseService(params.service)
      return try await instance.openSession(minTTL: params.minTTL?.value ?? 0, timeout: params.timeout?.value)
    }
    router.register(on: registry, InstanceCurrentUser.self) { params, instance, _ in
      try refuseService(params.service)
      return instance.user
    }
  }

  /// No kind of this daemon has services yet.
  private static func refuseService(_ service: String?) throws {
    guard service != nil else { return }
    throw RPCError.invalidParams("This kind of instance has no services; leave service out.", member: "service")
  }
}
