import JSONRPC
import SDKProtocol

/// The handlers of `push.*`.
enum PushHandlers {
  static func register(in router: inout Router<CallContext>, registry: InstanceRegistry) {
    router.register(on: registry, PushRegister.self) { params, instance, _ in
      let id = try await instance.registerPush(service: params.service, params.endpoint)
      return PushRegister.Result(id: id)
    }
    router.register(on: registry, PushUnregister.self) { params, instance, _ in
      try await instance.unregisterPush(params.id)
      return Empty()
    }
    router.register(on: registry, PushList.self) { _, instance, _ in
      PushList.Result(
        pushes: try await instance.pushRecords().map {
          .init(
            id: $0.id, service: $0.service, address: PushEndpoint.masked($0.address), user: $0.user,
            orphaned: $0.orphaned, createdAt: $0.createdAt)
        })
    }
  }
}
