import JSONRPC
import SDKProtocol

/// The handlers of `push.*`.
enum PushHandlers {
  static func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, PushRegister.self) { params, instance, _ in
      PushRegister.Result(id: try await instance.registerPush(service: params.service, params.endpoint))
    }
    router.register(on: registry, PushUnregister.self) { params, instance, _ in
      try await instance.unregisterPush(params.id)
      return Empty()
    }
    router.register(on: registry, PushList.self) { params, instance, _ -> EncodedResult<PushList> in
      var records = try await instance.pushRecords()[...]
      if let after = params.after {
        guard let index = records.firstIndex(where: { $0.id == after }) else {
          throw RPCError.invalidParams(
            "There is no push registration of this id any more; list from the start.", member: "after")
        }
        records = records[(index + 1)...]
      }
      var page = ReplyPage<PushList.Push>(limit: params.limit ?? 64)
      let isLast = records.allSatisfy {
        page.add(
          .init(
            id: $0.id, service: $0.service, address: PushEndpoint.masked($0.address), user: $0.user,
            orphaned: $0.orphaned, createdAt: $0.createdAt))
      }
      return try EncodedResult(
        PushList.Result(pushes: [], next: isLast ? nil : page.elements.last?.id), replacing: "pushes", with: page.text)
    }
  }
}
