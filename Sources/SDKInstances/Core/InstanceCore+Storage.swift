import JSONRPC
import SDKProtocol
import StateStore

extension InstanceCore {
  /// Changes a value that an app has stored.
  func changeStorage(_ part: InstanceChange.Part, of key: String, epoch: String?) throws -> Step {
    try check(key, epoch: epoch)
    try checkWiped()
    var change = unconditionalChange(parts: [part])
    change.expectedStorageEpoch = storageEpoch
    return Step(change: change)
  }

  /// Checks the key and the expected storage epoch of a call.
  func check(_ key: String, epoch: String?) throws {
    try checkAlive()
    let isPrintable = key.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    guard (1...128).contains(key.count), key.utf8.count <= 512, isPrintable else {
      throw RPCError.invalidParams("The member key must have 1 to 128 printable characters.", member: "key")
    }
    try check(storageEpoch: epoch)
  }

  /// Checks the expected storage epoch of a read against the store's, and returns the latter. The store's epoch counts
  /// because a wipe reaches the store before the instance.
  ///
  /// - Throws: also `locked`, if the values that were read should have been wiped.
  func epoch(ofRead stored: UInt64?, for epoch: String?) throws -> String {
    try checkAlive()
    try checkWiped()
    let found = stored.map(uuid.clientStorageEpoch) ?? clientStorageEpoch
    try check(epoch, is: found)
    return found
  }

  /// Checks the expected storage epoch of a call against the present one.
  func check(storageEpoch epoch: String?) throws { try check(epoch, is: clientStorageEpoch) }

  private func check(_ epoch: String?, is current: String) throws {
    if let epoch, epoch != current {
      throw SDKError(
        .state, .epochChanged, "The user has changed since \(epoch); read session.open again before writing.",
        instance: id, member: "storageEpoch")
    }
  }
}
