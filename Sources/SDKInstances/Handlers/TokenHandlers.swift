import JSONRPC
import SDKProtocol

/// The handlers of `token.*`, `session.open` and `instance.currentUser`.
enum TokenHandlers {
  static func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, TokenGet.self) { params, instance, _ in
      try await instance.token(TokenDemand(params), of: params.service, timeout: params.timeout?.value)
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
      try await instance.openSession(TokenDemand(params), of: params.service, timeout: params.timeout?.value)
    }
    router.register(on: registry, InstanceCurrentUser.self) { params, instance, context in
      let user = try instance.user(of: params.service)
      return registry.conceals(instance, from: context.role) ? instance.concealment.user(user) : user
    }
  }
}

/// Cached tokens are issued without disk access, task and executor hop.
extension TokenGet: ImmediateRead {
  static func answer(_ params: Params, by instance: HostedInstance) -> ShortAnswer? {
    guard let cached = instance.cachedAnswer(TokenDemand(params), of: params.service) else { return nil }
    return ShortAnswer(
      text: cached.text, instance: params.instance, issued: .init(tokenId: cached.tokenId, service: nil))
  }
}
