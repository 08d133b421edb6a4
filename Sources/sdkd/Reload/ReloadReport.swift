import Concurrency
import Logging
import SDKInstances
import SDKProtocol
import Synchronization
import Systemd

/// A report of the configuration's status to the journal, `systemctl status` and `daemon.health`.
final class ReloadReport: Sendable {
  private let registry: InstanceRegistry
  private let notifier: Notifier
  private let logger: Logger
  private let saysReady: Bool
  private let accepting: Promise<Void>
  /// Returns a notice about the state that is added to the status, such as a repair; `nil` for none.
  private let remark: @Sendable () -> String?
  private let check = Mutex(DaemonHealth.Check(name: "configuration", status: .ok))

  /// The longest wait for the listener, above the time that an adoption of connections can take.
  private static let patience = Duration.seconds(20)

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - accepting: resolved when connections are accepted; with an error if they never will be.
  ///   - note: returns a notice about the state; `nil` for none.
  init(
    registry: InstanceRegistry, notifier: Notifier, logger: Logger, saysReady: Bool, accepting: Promise<Void>,
    note: @escaping @Sendable () -> String?
  ) {
    self.registry = registry
    self.notifier = notifier
    self.logger = logger
    self.saysReady = saysReady
    self.accepting = accepting
    remark = note
  }

  /// The check of the configuration for `daemon.health`.
  var health: DaemonHealth.Check { check.withLock { $0 } }

  /// Reports that the daemon serves after its start, as soon as connections are accepted.
  func ready(_ outcome: FileInstances.Outcome) async {
    note(outcome.problems)
    guard await isAccepting else { return }
    let status = standing(outcome.problems)
    logger.info(
      "sdkd \(SDKVersion.program) is ready: \(status)", metadata: ["messageID": "\(JournalMessage.ready.id)"])
    announce(status)
  }

  /// Reports that the daemon runs, but fails every call that needs state. It is ready as soon as connections are
  /// accepted.
  func degraded(_ failure: SDKError, _ mistakes: [ConfigurationMistake]) async {
    if !mistakes.isEmpty {
      let words = Self.words(mistakes)
      check.withLock { $0 = .init(name: "configuration", status: .failing, detail: words) }
    }
    let status = mistakes.isEmpty ? "degraded: \(failure.message)" : "degraded: \(Self.all(mistakes))"
    logger.critical(
      "sdkd \(SDKVersion.program) runs, but serves nobody: \(failure.message)",
      metadata: ["messageID": "\(JournalMessage.degraded.id)", "reason": "\(failure.reason)"])
    log(mistakes)
    if await isAccepting { announce(status) }
  }

  /// Waits until connections are accepted, and so until those of the former daemon are adopted. False if the daemon
  /// ends before.
  private var isAccepting: Bool {
    get async {
      do {
        try await withTimeout(Self.patience) { [accepting] in try await accepting.value() }
        return true
      } catch {
        return error is TimeoutError
      }
    }
  }

  /// Reports a refused reload. The former configuration stays in force, if there is one.
  func refused(_ mistakes: [ConfigurationMistake], isServing: Bool) {
    let words = Self.words(mistakes)
    let what =
      isServing ? "the last good configuration stays in force" : "the configuration still can't be used"
    check.withLock {
      $0 = .init(
        name: "configuration", status: isServing ? .degraded : .failing, detail: isServing ? "\(what): \(words)" : words
      )
    }
    logger.error(
      "The reload was refused and nothing was changed: \(Self.count(mistakes)).",
      metadata: ["messageID": "\(JournalMessage.reloadRefused.id)"])
    log(mistakes)
    let all = "\(what): \(Self.all(mistakes))"
    notifier.status("degraded: " + ((isServing ? facts : []) + [all]).joined(separator: "; "))
  }

  /// Reports mistakes with which the configuration is put in force all the same.
  func warned(of mistakes: [ConfigurationMistake]) {
    for mistake in mistakes { logger.warning("\(mistake)") }
  }

  /// Reports that a reload was applied.
  func reloaded(_ outcome: FileInstances.Outcome) {
    note(outcome.problems)
    logger.notice(
      """
      The configuration was put in force: \(outcome.added.count) instances added, \(outcome.changed.count) changed, \
      \(outcome.removed.count) removed, \(outcome.unchanged.count) unchanged, \(outcome.problems.count) problems.
      """, metadata: ["messageID": "\(JournalMessage.reloaded.id)"])
    for problem in outcome.problems where problem.instance == nil { logger.error("\(problem.message)") }
    notifier.status(standing(outcome.problems, after: "reloaded; "))
  }

  /// Reports another attempt at pending removals.
  func removalsTried(_ outcome: FileInstances.Outcome) {
    if outcome.problems.isEmpty, !outcome.isRemovalPending { note([]) }
    notifier.status(standing(outcome.problems))
  }

  // MARK: Words

  private func note(_ problems: [DaemonReload.Problem]) {
    let words = Self.words(problems)
    check.withLock { $0 = .init(name: "configuration", status: words == nil ? .ok : .degraded, detail: words) }
  }

  private func log(_ mistakes: [ConfigurationMistake]) {
    for mistake in mistakes {
      logger.error("\(mistake)", metadata: ["messageID": "\(JournalMessage.configurationMistake.id)"])
    }
  }

  private func announce(_ status: String) {
    notifier.ready(status: status)
    if saysReady { StandardError.write("sdkd: ready") }
  }

  /// Returns the facts and the first problem. The text begins with "degraded" if it names what degrades the health.
  private func standing(_ problems: [DaemonReload.Problem], after prefix: String = "") -> String {
    let words = facts + [Self.words(problems)].compactMap(\.self)
    let isDegraded = words.count > 1 || !registry.quarantined.isEmpty
    return (isDegraded ? "degraded: " : "") + prefix + words.joined(separator: "; ")
  }

  /// The number of instances, of those that wait for a credential, and of quarantined ones; then the remark, if there is
  /// one.
  private var facts: [String] {
    let instances = registry.instances
    let waiting = instances.count { $0.state == .reauthNeeded || $0.state == .locked }
    let number = instances.count == 1 ? "1 instance" : "\(instances.count) instances"
    let counts = "\(number), \(waiting) waiting for a credential, \(registry.quarantined.count) set aside"
    return [counts, remark()].compactMap(\.self)
  }

  private static func words(_ problems: [DaemonReload.Problem]) -> String? {
    guard let first = problems.first else { return nil }
    let place = first.instance.map { "\($0): " } ?? ""
    return "\(place)\(first.message)\(problems.count > 1 ? " (and \(problems.count - 1) more in the journal)" : "")"
  }

  private static func words(_ mistakes: [ConfigurationMistake]) -> String {
    guard let first = mistakes.first else { return "no mistakes" }
    let rest = mistakes.count - 1
    return rest == 0 ? "\(first)" : "\(first) (and \(rest) more; sdkctl config check lists them)"
  }

  private static func all(_ mistakes: [ConfigurationMistake]) -> String {
    "\(count(mistakes)): \(mistakes.map(\.description).joined(separator: " | "))"
  }

  private static func count(_ mistakes: [ConfigurationMistake]) -> String {
    mistakes.count == 1 ? "a mistake in the configuration" : "\(mistakes.count) mistakes in the configuration"
  }
}
