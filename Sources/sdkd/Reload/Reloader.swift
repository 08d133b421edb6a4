import Concurrency
import JSONRPC
import Logging
import SDKInstances
import SDKProtocol
import Systemd

/// An actor that applies the configuration: at the start, and at each requested reload (sdkd(8)).
///
/// Reloads run one after another. A reload with a mistake changes nothing.
actor Reloader {
  private let load: @Sendable () -> ConfigurationLoader.Loaded
  private let parts: ConfiguredParts
  private let files: FileInstances
  private let operations: Operations
  private let deadlines: Deadlines
  private let report: ReloadReport
  /// The reason why the state can't be used, whatever the configuration is.
  private let stateFailure: SDKError?

  private var isRestored = false
  /// The instances that files define in the configuration in force.
  private var defined: Set<InstanceID> = []
  private let changing = AsyncMutex()
  private nonisolated let begun = Promise<Void>()

  /// The time after which a failed logout is tried again, in seconds.
  private static let removalPause = 60.0
  /// The longest time that the start waits for the ids of users and groups, so that a restart hides no instance from
  /// them.
  private static let patienceWithNames = Duration.seconds(2)

  init(
    load: @escaping @Sendable () -> ConfigurationLoader.Loaded, parts: ConfiguredParts, files: FileInstances,
    operations: Operations, deadlines: Deadlines, report: ReloadReport,
    stateFailure: SDKError?
  ) {
    self.load = load
    self.parts = parts
    self.files = files
    self.operations = operations
    self.deadlines = deadlines
    self.report = report
    self.stateFailure = stateFailure
  }

  /// Applies the configuration read at the start. With a mistake, or without a state, every call that needs state
  /// fails.
  func begin(with loaded: ConfigurationLoader.Loaded) async {
    await changing.lock()
    defer {
      changing.unlock()
      begun.resolve(.success(()))
    }
    if let failure = stateFailure ?? loaded.failure {
      parts.registry.availability.fail(failure)
      await report.degraded(failure, loaded.mistakes)
      return
    }
    do throws(SDKError) {
      try await files.host.restore()
    } catch {
      parts.registry.availability.fail(error)
      await report.degraded(error, [])
      return
    }
    let outcome = await apply(loaded, [])
    // Calls wait during the start anyway, but a name service that does not respond must not delay them for long.
    parts.names.refresh(parts.registry.namesInUse)
    await parts.names.settle(within: Self.patienceWithNames)
    await files.host.serve()
    await parts.updateAdmission()
    await report.ready(outcome)
  }

  /// Reads the configuration and applies it.
  ///
  /// - Throws: `invalidConfiguration` with every mistake, in which case nothing was changed; the reason why the state
  ///   can't be used.
  func reload() async throws -> DaemonReload.Result {
    try await begun.valueIgnoringCancellation()
    await changing.lock()
    defer { changing.unlock() }
    var loaded = load()
    if isRestored { loaded.mistakes += files.mistakes(in: loaded.instances) }
    guard loaded.mistakes.isEmpty else {
      report.refused(loaded.mistakes, isServing: isRestored)
      throw ConfigurationMistake.refusal(loaded.mistakes)
    }
    if let stateFailure { throw stateFailure }
    let isStart = !isRestored
    if isStart { try await files.host.restore() }
    let problems = await parts.use(loaded.configuration)
    let outcome = await apply(loaded, problems)
    parts.names.refresh(parts.registry.namesInUse)
    if isStart { await parts.names.settle(within: Self.patienceWithNames) }
    await files.host.serve()
    await parts.updateAdmission()
    report.reloaded(outcome)
    return DaemonReload.Result(
      added: outcome.added, changed: outcome.changed, removed: outcome.removed, unchanged: outcome.unchanged,
      problems: outcome.problems)
  }

  /// Reloads for a caller: to the end, even if the caller is gone.
  ///
  /// - Throws: the errors of `reload`.
  nonisolated func reloadForCaller() async throws -> DaemonReload.Result {
    let outcome = Promise<DaemonReload.Result>()
    operations.start {
      do { outcome.resolve(.success(try await self.reload())) } catch { outcome.resolve(.failure(error)) }
    }
    return try await outcome.valueIgnoringCancellation()
  }

  private func apply(
    _ loaded: ConfigurationLoader.Loaded, _ problems: [DaemonReload.Problem]
  ) async -> FileInstances.Outcome {
    report.warned(of: loaded.warnings)
    // At the start clients wait, and a vendor that does not respond must not delay them. So logouts are left for later.
    var outcome = await files.apply(loaded.instances, logsOut: isRestored)
    outcome.problems = problems + outcome.problems
    defined = Set(loaded.instances.map(\.id))
    planRemovals(after: outcome, pause: isRestored ? Self.removalPause : 0)
    isRestored = true
    return outcome
  }

  // MARK: Removals that wait for a logout

  private func planRemovals(after outcome: FileInstances.Outcome, pause: Double) {
    let time = outcome.isRemovalPending ? Timestamp.now + pause : nil
    deadlines.set("removals", at: time) { [weak self, operations] in
      operations.start { [weak self] in await self?.retryRemovals() }
    }
  }

  private func retryRemovals() async {
    await changing.lock()
    defer { changing.unlock() }
    var outcome = FileInstances.Outcome()
    await files.removeMissing(keeping: defined, logsOut: true, &outcome)
    planRemovals(after: outcome, pause: Self.removalPause)
    report.removalsTried(outcome)
  }
}
