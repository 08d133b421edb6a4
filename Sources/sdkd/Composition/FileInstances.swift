import Logging
import SDKInstances
import SDKProtocol

/// Brings the instances that come from files in line with the files.
struct FileInstances {
  let registry: InstanceRegistry
  let logger: Logger
  /// Whether an instance without a file is deleted: not when a file could not be read, for it may be in there.
  let deletesMissing: Bool

  /// Makes new ones, changes changed ones, and deletes those whose file is gone.
  func apply(_ files: [InstanceFile]) async {
    for file in files {
      do {
        try await registry.reconcile(file.id, file.definition)
      } catch {
        let message = (error as? SDKError)?.message ?? "its definition can't be put in force"
        logger.error("\(file.file): \(message)", metadata: ["instance": "\(file.id)"])
      }
    }
    guard deletesMissing else { return }
    let kept = Set(files.map(\.id))
    for instance in registry.instances where instance.currentDefinition.source == .file && !kept.contains(instance.id) {
      do {
        try await registry.delete(instance)
        logger.notice("The file of this instance is gone; it is deleted.", metadata: ["instance": "\(instance.id)"])
      } catch {
        logger.error("An instance whose file is gone could not be deleted.", metadata: ["instance": "\(instance.id)"])
      }
    }
  }
}
