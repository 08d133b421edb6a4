import JSONRPC
import SDKProtocol

/// The handlers of `storage.*`.
enum StorageHandlers {
  static func register(in router: inout Router<CallContext>, registry: InstanceRegistry) {
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
      let found = try await instance.storedKeys(epoch: params.storageEpoch)
      return StorageList.Result(
        keys: found.keys.map { .init(key: $0.key, bytes: $0.bytes) }, storageEpoch: found.epoch)
    }
  }
}
