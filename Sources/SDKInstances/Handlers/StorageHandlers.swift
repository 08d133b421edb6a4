import JSONRPC
import SDKProtocol

/// The handlers of `storage.*`.
enum StorageHandlers {
  static func register(in router: inout CallRouter, registry: InstanceRegistry) {
    router.register(on: registry, StorageGet.self) { params, instance, _ in
      let found = try await instance.storedValue(params.key, epoch: params.storageEpoch)
      return StorageGet.Result(value: found.value, storageEpoch: found.epoch)
    }
    router.register(on: registry, StoragePut.self) { params, instance, _ in
      try await instance.store(params.value, for: params.key, epoch: params.storageEpoch)
      return Empty()
    }
    router.register(on: registry, StorageDelete.self) { params, instance, _ in
      try await instance.removeValue(params.key, epoch: params.storageEpoch)
      return Empty()
    }
    router.register(on: registry, StorageList.self) { params, instance, _ in
      let limit = params.limit ?? 1000
      let found = try await instance.storedKeys(after: params.after, limit: limit + 1, epoch: params.storageEpoch)
      var page = ReplyPage<StorageList.Entry>(limit: limit)
      let isLast = found.keys.allSatisfy { page.add(.init(key: $0.key, bytes: $0.bytes)) }
      return StorageList.Result(
        keys: page.elements.sorted { $0.key < $1.key }, storageEpoch: found.epoch,
        next: isLast ? nil : page.elements.last?.key)
    }
  }
}
