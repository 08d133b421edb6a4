import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// An instance for tests, with factories for its changes.
struct Sample {
  let uuid = InstanceUUID.random()
  let id: InstanceID
  let kind = KindName("test.kind")

  init(_ name: String = "front-desk") throws { id = try #require(InstanceID(name)) }

  var instance: StoredInstance {
    StoredInstance(
      uuid: uuid, id: id, createdAt: Timestamp(secondsSince1970: 1_700_000_000.5),
      definition: ["kind": "test.kind", "settings": ["base_url": "https://plaintext-settings.example"]])
  }

  static let identity: JSON = [
    "user": ["name": "Plaintext Name", "email": "plaintext@example.com"],
    "credential": ["token": "plaintext-token-value"],
  ]

  func change(
    _ parts: InstanceChange.Part..., events: [InstanceChange.NewEvent] = [], epoch: UInt64? = nil,
    storageEpoch: UInt64? = nil
  ) -> InstanceChange {
    InstanceChange(
      uuid: uuid, id: id, kind: kind, expectedEpoch: epoch, expectedStorageEpoch: storageEpoch, parts: parts,
      events: events)
  }

  var create: InstanceChange { change(.create(instance)) }

  func put(_ key: String, _ value: JSON, limit: Int = 1 << 20, storageEpoch: UInt64? = nil) -> InstanceChange {
    change(.putValue(key: key, value: value, limit: limit), storageEpoch: storageEpoch)
  }
}

extension StateStore {
  /// Returns the instance as loaded; `nil` if it is not there or does not open.
  func loaded(_ sample: Sample) async throws -> StoredInstance? {
    try await load().instances.first { $0.uuid == sample.uuid }
  }
}

/// Returns the reason of the `SDKError` that `body` throws; `nil` if it throws none.
func reason(_ body: () async throws -> Void) async -> Reason? {
  do {
    try await body()
    return nil
  } catch let error as SDKError {
    return error.reason
  } catch {
    Issue.record(error)
    return nil
  }
}
