#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The owner of a data key. The wrapped key opens only for exactly this owner.
enum KeyOwner {
  /// An instance until its next wipe.
  case instance(InstanceUUID, storageEpoch: UInt64)
  /// An entry of an instance's outbox.
  case outboxEntry(InstanceUUID, tag: Data)
  /// The state itself, from the event position `first` on.
  case state(purpose: String, first: UInt64)

  func context(slot: Int64) -> AdditionalData {
    var context: AdditionalData
    switch self {
    case .instance(let uuid, let storageEpoch):
      context = AdditionalData("data_key.wrapped", of: uuid)
      context.append(UInt64(bitPattern: slot))
      context.append(storageEpoch)
    case .outboxEntry(let uuid, let tag):
      context = AdditionalData("data_key.outbox", of: uuid)
      context.append(UInt64(bitPattern: slot))
      context.append(field: tag)
    case .state(let purpose, let first):
      context = AdditionalData("data_key.state")
      context.append(UInt64(bitPattern: slot))
      context.append(purpose)
      context.append(first)
    }
    return context
  }
}
