import Concurrency
import Glibc
import Logging
import SDKInstances
import SDKProtocol

/// The reconciliation of instances that files define with their files.
struct FileInstances: Sendable {
  /// The result of a reconciliation.
  struct Outcome: Sendable {
    var added: [InstanceID] = []
    var changed: [InstanceID] = []
    var removed: [InstanceID] = []
    var unchanged: [InstanceID] = []
    var problems: [DaemonReload.Problem] = []
    /// Whether an instance still has to log out before it can be deleted.
    var isRemovalPending = false
  }

  private enum Step: Sendable {
    case added, changed, removed, unchanged
    case pending(String?)
    case failed(String)
  }

  let host: InstanceHost
  /// The directory of the instances' files.
  let directory: String
  let logger: Logger
  private var registry: InstanceRegistry { host.registry }

  /// The number of instances that are changed at a time. They share transactions, and a vendor that does not respond
  /// blocks few.
  private static let width = 16

  /// Returns the mistakes that depend on the current instances: an id taken by an instance that a call created, or a
  /// missing directory while instances from files exist.
  func mistakes(in files: [InstanceFile]) -> [ConfigurationMistake] {
    (missingDirectory.map { [$0] } ?? [])
      + files.filter { registry.nameUse($0.id) == .api }.map {
        ConfigurationMistake(
          file: $0.file, line: $0.idLine, key: "id",
          message: "An instance \($0.id) was made by a call; delete it with sdkctl delete, or choose another id here.")
      }
  }

  /// The mistake for a missing directory while instances from files exist, as with a disk that is not mounted; `nil`
  /// for none. A missing directory does not mean that these instances should be deleted.
  private var missingDirectory: ConfigurationMistake? {
    guard access(directory, F_OK) != 0, errno == ENOENT else { return nil }
    let count = registry.instances.count { $0.currentDefinition.source == .file }
    return count == 0
      ? nil
      : ConfigurationMistake(
        file: directory,
        message: "The directory is missing; instances that come from files in it (\(count)) stay as they are. Put it "
          + "back, or make it empty to delete them, and reload.")
  }

  /// Creates new instances, updates changed ones, and removes those whose file is gone.
  ///
  /// - Parameter logsOut: whether instances that require a logout are logged out now. Otherwise they are left for
  ///   `removeMissing`.
  func apply(_ files: [InstanceFile], logsOut: Bool) async -> Outcome {
    var outcome = Outcome()
    for (file, step) in zip(files, await files.concurrentMap(atMost: Self.width) { await define($0) }) {
      add(file.id, step, to: &outcome)
    }
    await removeMissing(keeping: Set(files.map(\.id)), logsOut: logsOut, &outcome)
    return outcome
  }

  /// Removes the instances whose file is gone. Does nothing but report it when the whole directory is missing.
  func removeMissing(keeping kept: Set<InstanceID>, logsOut: Bool, _ outcome: inout Outcome) async {
    if let missing = missingDirectory {
      outcome.problems.append(.init(message: "\(missing)"))
      return logger.error("\(missing)")
    }
    let gone = registry.instances.filter { $0.currentDefinition.source == .file && !kept.contains($0.id) }
    let steps = await gone.concurrentMap(atMost: Self.width) { await remove($0, logsOut: logsOut) }
    for (instance, step) in zip(gone, steps) { add(instance.id, step, to: &outcome) }
  }

  private func define(_ file: InstanceFile) async -> Step {
    do {
      switch try await host.reconcile(file.id, file.definition) {
      case .added: return .added
      case .changed: return .changed
      case .unchanged: return .unchanged
      }
    } catch {
      return .failed("\(file.file): \(Self.words(error))")
    }
  }

  private func remove(_ instance: HostedInstance, logsOut: Bool) async -> Step {
    let wantsLogout = instance.currentDefinition.onRemove == .logout
    if wantsLogout, !logsOut { return .pending(nil) }
    do {
      try await host.remove(instance)
      return .removed
    } catch {
      let why = "Its file is gone, but it could not be removed: \(Self.words(error))"
      return wantsLogout ? .pending("\(why) It is kept, and tried again every minute.") : .failed(why)
    }
  }

  private func add(_ id: InstanceID, _ step: Step, to outcome: inout Outcome) {
    switch step {
    case .added: outcome.added.append(id)
    case .changed: outcome.changed.append(id)
    case .unchanged: outcome.unchanged.append(id)
    case .removed:
      outcome.removed.append(id)
      logger.notice("The file of this instance is gone; it is deleted.", metadata: ["instance": "\(id)"])
    case .pending(let message):
      outcome.isRemovalPending = true
      if let message { problem(id, message, &outcome) }
    case .failed(let message): problem(id, message, &outcome)
    }
  }

  private func problem(_ id: InstanceID, _ message: String, _ outcome: inout Outcome) {
    outcome.problems.append(.init(instance: id, message: message))
    logger.error("\(message)", metadata: ["instance": "\(id)"])
  }

  private static func words(_ error: any Error) -> String {
    (error as? SDKError)?.message ?? "its definition can't be put in force."
  }
}
