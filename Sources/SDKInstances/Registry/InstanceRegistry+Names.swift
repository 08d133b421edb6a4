import JSONRPC
import Logging
import SDKProtocol
import StateStore
import Synchronization

extension InstanceRegistry {
  /// The names in all rules in force, by the owner whose rules they are.
  public var namesInUse: [UInt32: Set<SystemName>] {
    var names = deleted.withLock { $0.names }
    names[0, default: []].formUnion(access.requiredNames)
    for instance in unsortedInstances {
      let access = instance.currentAccess
      names[access.owner, default: []].formUnion(access.names)
    }
    return names
  }

  /// Requests the resolution of the names in an instance's rules. To be called when its definition has taken effect.
  func requestNames(of instance: HostedInstance) {
    let instance = instance.currentAccess
    access.names.request(instance.names, for: instance.owner)
  }

  /// Logs how many rules of a stored definition were dropped because they are no longer valid.
  func reportDroppedRules(of stored: StoredInstance, _ definition: Definition) {
    let before = stored.definition["access"]?.objectValue?.members.reduce(0) { $0 + ($1.value.arrayValue?.count ?? 0) }
    let after = definition.access.byRole.reduce(0) { $0 + $1.rules.count }
    guard let before, before > after else { return }
    environment.logger.warning(
      """
      \(before - after) access rules of this instance are left out: they can match nobody, or are past the \
      \(AccessRules.maximumPerRole) that a role can have. Set its access again.
      """, metadata: ["instance": "\(stored.id)"])
  }
}
