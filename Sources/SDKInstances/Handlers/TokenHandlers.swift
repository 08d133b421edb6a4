import JSONRPC
import SDKProtocol

/// The handlers of `token.*`, `session.open` and `instance.currentUser`.
enum TokenHandlers {
  /// Returns the shortcut of `token.get`, which issues cached tokens: no disk access, no task, no executor hop. The
  /// first call of a connection takes the other path, which looks up the caller's process.
  static func cachedToken(_ registry: InstanceRegistry) -> Shortcut {
    Shortcut { params, session in
      guard registry.availability.isServing, let params = params.flatMap(TokenGet.Params.init(plain:)) else {
        return nil
      }
      let peer = session.link.peer
      guard peer.knowsProcess, session.pendingWrites(params.instance, for: .user).isEmpty,
        let instance = registry.hosted(params.instance),
        let role = registry.role(of: peer, on: instance), role >= .use,
        let cached = instance.cachedAnswer(minTTL: params.minTTL?.value ?? 0, http: params.http ?? false)
      else { return nil }
      return ShortAnswer(
        text: cached.text, instance: params.instance, issued: .init(tokenId: cached.tokenId, service: nil))
    }
  }

  static func register(
    in router: inout CallRouter, registry: InstanceRegistry
  ) {
    router.register(on: registry, TokenGet.self) { params, instance, _ in
      try await instance.token(
        service: params.service, minTTL: params.minTTL?.value ?? 0, timeout: params.timeout?.value,
        http: params.http ?? false)
    }
    router.register(on: registry, TokenRefresh.self) { params, instance, context in
      try await instance.refresh(
        service: params.service, timeout: params.timeout?.value, resetting: context.role >= .control)
    }
    router.register(on: registry, TokenReject.self) { params, instance, _ in
      try await instance.reject(
        service: params.service, params.tokenId, status: params.status, code: params.code,
        description: params.description)
      return Empty()
    }
    router.register(on: registry, SessionOpen.self) { params, instance, _ in
      try await instance.openSession(
        service: params.service, minTTL: params.minTTL?.value ?? 0, timeout: params.timeout?.value)
    }
    router.register(on: registry, InstanceCurrentUser.self) { params, instance, context in
      let user = try instance.user(of: params.service)
      return registry.conceals(instance, from: context.role) ? instance.concealment.user(user) : user
    }
  }
}
