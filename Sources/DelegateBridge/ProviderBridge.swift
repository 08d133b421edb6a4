public import Logging
public import SDKProtocol
import Synchronization

/// A bridge that requests answers from the attached delegates, then from the configured provider. The provider runs as
/// a child of the daemon, or behind the socket of a systemd unit.
public final class ProviderBridge: AnsweringBridge {
  /// An observer of breakers that open (`true`) or close (`false`). Called without any lock held.
  public typealias BreakerObserver = @Sendable (_ key: BridgeKey, _ opened: Bool) -> Void

  /// An observer of runs that have ended. Called without any lock held; must be quick.
  public typealias RunObserver = @Sendable (EndedRun) -> Void

  /// The shortest time worth a run. A run does not begin when less is left before the question's deadline.
  private static let shortestRun = Duration.milliseconds(500)

  /// The current settings, and the runner that was made from them.
  private struct Setup: Sendable {
    var options: BridgeOptions
    var runner: any ProviderRunning
  }

  private let setup: Mutex<Setup>
  private let makeRunner: @Sendable (BridgeOptions) -> any ProviderRunning
  private let sources: [any AnswerSource]
  private let time: BridgeTime
  let breakers: BreakerTable
  let slots: ProviderSlots
  private let onRun: RunObserver
  private let runTime = Mutex(TypicalTime())
  /// The keys whose last answer was a delegate's.
  private let delegated = Mutex<Set<BridgeKey>>([])

  /// Creates a bridge that runs real programs.
  ///
  /// - Parameters:
  ///   - sources: the sources of answers before the provider, in order of preference.
  ///   - onBreakerChange: observes breakers that open and close.
  ///   - onRun: observes runs that have ended.
  public convenience init(
    options: BridgeOptions = BridgeOptions(), sources: [any AnswerSource] = [], logger: Logger,
    onBreakerChange: @escaping BreakerObserver = { _, _ in }, onRun: @escaping RunObserver = { _ in }
  ) {
    self.init(
      options: options, sources: sources, time: BridgeTime(), onBreakerChange: onBreakerChange, onRun: onRun
    ) { options in
      ProviderRunner(
        commands: ExecProvider(check: ProgramCheck(allowed: options.allow), logger: logger),
        units: UnitProvider(sockets: options.unitSockets))
    }
    if options.sweeps { SubreaperSweep.adoptOrphans() }
  }

  init(
    options: BridgeOptions, sources: [any AnswerSource] = [], time: BridgeTime,
    onBreakerChange: @escaping BreakerObserver = { _, _ in }, onRun: @escaping RunObserver = { _ in },
    makeRunner: @escaping @Sendable (BridgeOptions) -> any ProviderRunning
  ) {
    self.onRun = onRun
    self.makeRunner = makeRunner
    setup = Mutex(Setup(options: options, runner: makeRunner(options)))
    self.sources = sources
    self.time = time
    breakers = BreakerTable(time: time, onChange: onBreakerChange)
    slots = ProviderSlots(limits: options.limits, clock: time.clock)
  }

  /// Applies other settings to runs from now on; runs in progress keep theirs. The environment and `sweeps` do not
  /// change.
  public func use(_ options: BridgeOptions) {
    setup.withLock { setup in
      setup.options.allow = options.allow
      setup.options.commands = options.commands
      setup.options.unitSockets = options.unitSockets
      setup.options.limits = options.limits
      setup.runner = makeRunner(setup.options)
    }
    slots.use(options.limits)
  }

  public func ask(
    _ question: BridgeQuestion, of key: BridgeKey, provider: ProviderConfiguration?, owner: UInt32?
  ) async throws(SDKError) -> BridgeAnswer {
    do throws(SDKError) {
      return try await answer(to: question, key, provider, owner)
    } catch {
      throw error.about(question.instance)
    }
  }

  private func answer(
    to question: BridgeQuestion, _ key: BridgeKey, _ provider: ProviderConfiguration?, _ owner: UInt32?
  ) async throws(SDKError) -> BridgeAnswer {
    var failure: SDKError?
    var isPassed = false
    let start = time.now()
    for source in sources {
      do throws(SDKError) {
        guard let answer = try await source.answer(question, of: key, waits: provider == nil) else { continue }
        isPassed = true
        guard !answer.isDeferred else { continue }
        delegated.withLock { _ = $0.insert(key) }
        return answer
      } catch {
        if error.reason == .providerDenied || error.reason == .shuttingDown { throw error }
        failure = error
      }
    }
    delegated.withLock { _ = $0.remove(key) }
    guard let provider else { throw failure ?? (isPassed ? .allDeferred : .noProvider) }
    var question = question
    // The time that a person took is not the provider's.
    if question.personalDeadline != nil { question.deadline = question.deadline + max(0, time.now() - start) }
    do throws(SDKError) {
      return try await run(provider, question, key, owner)
    } catch {
      // When the provider passes the question on, a delegate's failure is the better error: it may answer the next
      // time.
      throw error.reason == .noProvider ? failure ?? error : error
    }
  }

  private func run(
    _ provider: ProviderConfiguration, _ question: BridgeQuestion, _ key: BridgeKey, _ owner: UInt32?
  ) async throws(SDKError) -> BridgeAnswer {
    _ = try present(for: provider)
    let admission = try breakers.admit(key)
    let slot: Int
    let (options, runner): (BridgeOptions, any ProviderRunning)
    do throws(SDKError) {
      slot = try await takeSlot(for: provider, question, key, owner)
      do throws(SDKError) {
        // Again, because options that came during the wait apply to this run, too.
        (options, runner) = try present(for: provider)
      } catch {
        slots.finish(slot, succeeded: nil)
        throw error
      }
    } catch {
      breakers.abandon(key, admission)
      throw error
    }
    let end = time.now() + provider.timeout.value
    let isCutShort = question.deadline < end
    let question = question.due(by: end)
    let invocation = ProviderInvocation(
      provider, question, inherited: options.environment, patience: time.left(until: question.deadline))
    let start = time.uptime()
    let run = await runner.running(invocation, slow: options.limits.slow, clock: time.clock) {
      self.slots.markLong(slot)
    }
    let result: Result<BridgeAnswer, SDKError>
    do throws(SDKError) {
      let answer = try run.answer(to: question, by: provider, isCutShort: isCutShort, now: time.now())
      result = answer.isDeferred ? .failure(.allDeferred) : .success(answer)
    } catch {
      result = .failure(error)
    }
    let outcome = BreakerTable.Outcome(result, run.ending)
    breakers.record(key, admission, outcome, lastExit: run.ending.lastExit)
    if outcome.isSuccess == true { runTime.withLock { $0.note((time.uptime() - start) / .seconds(1)) } }
    slots.finish(slot, succeeded: outcome.isSuccess)
    onRun(
      EndedRun(
        key: key, instance: question.instance, kind: question.kind, question: question.name, owner: owner ?? 0,
        program: provider.unit ?? provider.arguments.first ?? "", isUnit: provider.unit != nil,
        exit: run.ending.lastExit ?? "cancelled", failure: result.failure,
        duration: time.uptime() - start))
    if options.sweeps { await SubreaperSweep().sweep() }
    return try result.get()
  }

  /// Returns the present options and runner.
  ///
  /// - Throws: `providerNotAllowed` for a command while only units are allowed.
  private func present(
    for provider: ProviderConfiguration
  ) throws(SDKError) -> (options: BridgeOptions, runner: any ProviderRunning) {
    let (options, runner) = setup.withLock { ($0.options, $0.runner) }
    if provider.unit == nil, !options.commands { throw .commandNeedsSameUid }
    return (options, runner)
  }

  private func takeSlot(
    for provider: ProviderConfiguration, _ question: BridgeQuestion, _ key: BridgeKey, _ owner: UInt32?
  ) async throws(SDKError) -> Int {
    // A run that begins with almost no time left would count as the provider's failure, which it isn't.
    let needed = min(provider.timeout.duration, Self.shortestRun)
    let patience = time.left(until: question.deadline) - needed
    guard patience > .zero else { throw .tooLate }
    return try await slots.acquire(
      key, name: question.instance.name, owner: owner, concurrency: provider.concurrency, patience: patience)
  }

  public func status(of key: BridgeKey) -> Instance.Bridge {
    var status = breakers.status(of: key)
    status.attached = sources.reduce(0) { $0 + $1.attachedCount(of: key) }
    return status
  }

  public var pace: BridgePace {
    let limits = setup.withLock { $0.options.limits }
    return BridgePace(
      slots: min(limits.concurrent, limits.running), slotsPerOwner: limits.runningPerOwner,
      seconds: runTime.withLock { $0.seconds })
  }

  public func hasDelegate(_ key: BridgeKey) -> Bool { sources.contains { $0.hasDelegate(key) } }

  public func delegateGrace(_ key: BridgeKey) -> Duration? {
    sources.contains { $0.attachedCount(of: key) > 0 } ? nil : sources.compactMap { $0.grace(of: key) }.max()
  }

  /// Ends the runs in progress, because the daemon stops. A program that ignores SIGTERM is killed soon.
  public func stop() { RunningProviders.shared.endAll() }

  /// Waits, after `stop`, until no program is left that would outlive the daemon, nor what one has left behind.
  public func settle() async {
    await RunningProviders.shared.settle()
    if setup.withLock({ $0.options.sweeps }) { await SubreaperSweep().sweep() }
  }

  public func reset(_ key: BridgeKey) { breakers.reset(key) }

  public func accept(_ key: BridgeKey) { breakers.accept(key) }

  public func reject(_ key: BridgeKey) {
    // The breaker concerns the provider alone, so a delegate's bad answer does not count against it.
    guard !delegated.withLock({ $0.contains(key) }) else { return }
    breakers.reject(key)
    // The key's last run did not succeed after all.
    slots.forget(key)
  }

  public func forget(_ key: BridgeKey) {
    breakers.forget(key)
    slots.forget(key)
    delegated.withLock { _ = $0.remove(key) }
    for source in sources { source.forget(key) }
  }
}

extension Result where Failure == SDKError {
  /// The reason of the failure; `nil` for a success.
  fileprivate var failure: Reason? { if case .failure(let error) = self { error.reason } else { nil } }
}
