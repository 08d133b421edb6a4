package import SDKProtocol

/// The errors that all stores report with the same words.
extension SDKError {
  package static func storeUnavailable(_ why: String) -> SDKError { SDKError(.store, .storeUnavailable, why) }

  package static func instanceExists(_ id: InstanceID) -> SDKError {
    SDKError(.existing, .instanceExists, "There is an instance \(id) already; choose another name.", instance: id)
  }

  package static func epochChanged(_ id: InstanceID) -> SDKError {
    SDKError(
      .state, .epochChanged, "The identity of \(id) changed in the meantime; look at it again and repeat the call.",
      instance: id)
  }

  package static func storageEpochChanged(_ id: InstanceID) -> SDKError {
    SDKError(
      .state, .epochChanged, "The storage of \(id) was wiped in the meantime; read it again before writing.",
      instance: id, member: "storageEpoch")
  }

  package static func storageFull(_ id: InstanceID, limit: Int) -> SDKError {
    SDKError(
      .limit, .storageFull, "The storage of \(id) would exceed \(limit) bytes; delete keys that are not needed.",
      instance: id)
  }

  package static func tooManyPushes(_ id: InstanceID) -> SDKError {
    SDKError(
      .limit, .storageFull,
      "\(id) has \(StoredPush.maximumCount) push registrations already; unregister one that is not needed.",
      instance: id)
  }

  package static func outboxFull(_ id: InstanceID) -> SDKError {
    SDKError(
      .limit, .storageFull,
      "\(StoredOutboxEntry.maximumCount) logouts and removals of \(id) still wait for the vendor; see that it can be "
        + "reached, or try again when they are done or given up.", instance: id)
  }

  package static func instanceQuarantined(_ id: InstanceID, _ problem: String) -> SDKError {
    SDKError(.store, .instanceQuarantined, problem, instance: id)
  }
}
