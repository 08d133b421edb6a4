import Concurrency
public import JSONRPC
public import SDKProtocol
import StateStore

extension HostedInstance {
  /// The maximum size of a value as JSON text, in bytes.
  public static let maximumValueBytes = 32 * 1024
  /// The maximum total size of an instance's keys and values, in bytes.
  public static let maximumStorageBytes = 1024 * 1024

  /// Returns the value of a key, or `null` without one, and the storage epoch.
  public func storedValue(_ key: String, epoch: String?) async throws -> (value: JSON, epoch: String) {
    // The epoch is compared with the store's below, which a wipe reaches first.
    try await actor.core.check(key, epoch: nil)
    let stored = try await environment.store.storageValue(of: uuid, key: key)
    return (stored?.value ?? .null, try await actor.core.epoch(ofRead: stored?.storageEpoch, for: epoch))
  }

  /// Stores a value until the identity is wiped; durable on return.
  public func store(_ value: JSON, for key: String, epoch: String?) async throws {
    let bytes = JSONWriter.bytes(of: value).count
    guard bytes <= Self.maximumValueBytes else {
      throw SDKError(
        .limit, .storageFull, "The value has \(bytes) bytes; at most \(Self.maximumValueBytes) are kept under one key.",
        instance: id, member: "value")
    }
    try await change(key, epoch: epoch, .putValue(key: key, value: value, limit: Self.maximumStorageBytes))
  }

  /// Removes the value of a key. Does nothing if there is none.
  public func removeValue(_ key: String, epoch: String?) async throws {
    try await change(key, epoch: epoch, .deleteValue(key: key))
  }

  /// Returns the next keys with the sizes of their values, and the storage epoch.
  ///
  /// - Parameter key: the last key of the page before.
  func storedKeys(
    after key: String? = nil, limit: Int = .max, epoch: String?
  ) async throws -> (keys: [(key: String, bytes: Int)], epoch: String) {
    try await actor.core.checkAlive()
    let stored = try await environment.store.storagePage(of: uuid, after: key, limit: limit)
    return (stored?.keys ?? [], try await actor.core.epoch(ofRead: stored?.storageEpoch, for: epoch))
  }

  /// Wipes what apps have stored, and changes the kind's own state; durable on return. The user stays.
  ///
  /// - Returns: the new storage epoch.
  public func clearStorage(
    _ change: @escaping @Sendable (inout [String: Secret]) -> Void
  ) async throws -> String {
    try await actor.change(nil) { core, _ in try core.clearStorage(of: nil, change) }
    return await actor.core.clientStorageEpoch
  }

  /// The present storage epoch.
  public var presentStorageEpoch: String { get async { await actor.core.clientStorageEpoch } }

  private func change(_ key: String, epoch: String?, _ part: InstanceChange.Part) async throws {
    try await actor.change(nil) { core, _ in try core.changeStorage(part, of: key, epoch: epoch) }
  }
}
