#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a data key is for; its wrapped form opens for exactly that.
enum KeyOwner {
  /// The instance until its next wipe.
  case instance(InstanceUUID, storageEpoch: UInt64)
  /// One entry of an instance's outbox.
  case outboxEntry(InstanceUUID, tag: Data)

  func context(slot: Int64) -> AdditionalData {
    switch self {
    case .instance(let uuid, let storageEpoch):
      var context = AdditionalData("data_key.wrapped", of: uuid)
      context.append(UInt64(bitPattern: slot))
      context.append(storageEpoch)
      return context
    case .outboxEntry(let uuid, let tag):
      var context = AdditionalData("data_key.outbox", of: uuid)
      context.append(UInt64(bitPattern: slot))
      context.append(field: tag)
      return context
    }
  }
}
