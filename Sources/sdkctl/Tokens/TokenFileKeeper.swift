import Concurrency
import Linux

/// The keeper of a token file: takes the steps of `TokenFileRules`, and runs the hook after each change of the file.
actor TokenFileKeeper {
  private let file: AtomicFile
  private let hook: TokenHook?
  private let ask: @Sendable () async -> TokenFileRules.Answer
  private let report: @Sendable (_ line: String) -> Void
  private let start = ContinuousClock.now
  private var rules: TokenFileRules
  private var alarm: Task<Void, Never>?
  private var request: Task<Void, Never>?
  private var isHookRunning = false
  private var isHookDue = false
  private var isEnding = false
  private var failure: CommandFailure?
  /// The last failure that was reported.
  private var reported: CommandFailure?

  /// The end: the reason, or `nil` if it was asked to stop.
  nonisolated let ending = Promise<CommandFailure?>()

  /// Creates a keeper.
  ///
  /// - Parameters:
  ///   - ask: requests a token.
  ///   - report: prints a line about a failure.
  init(
    _ file: AtomicFile, rules: TokenFileRules, hook: TokenHook?, report: @escaping @Sendable (String) -> Void,
    ask: @escaping @Sendable () async -> TokenFileRules.Answer
  ) {
    self.file = file
    self.rules = rules
    self.hook = hook
    self.report = report
    self.ask = ask
  }

  /// Takes a change that the daemon reports.
  func take(_ change: TokenFileRules.Change) {
    if case .lost(let failure) = change { note(failure) }
    if !isEnding { perform(rules.take(change)) }
  }

  /// Removes the file, runs the hook a last time, and ends.
  func stop(_ failure: CommandFailure? = nil) {
    guard !isEnding else { return }
    isEnding = true
    self.failure = failure
    alarm?.cancel()
    request?.cancel()
    for case .remove in rules.end() { remove() }
    if !isHookRunning { ending.resolve(.success(self.failure)) }
  }

  private func answered(_ answer: TokenFileRules.Answer, _ generation: Int) {
    guard !isEnding else { return }
    switch answer {
    case .token: reported = nil
    case .failure(let failure): note(failure)
    }
    perform(
      rules.take(answer, of: generation, at: start.duration(to: .now), random: .random(in: 0...1)))
  }

  private func ring() {
    if !isEnding { perform(rules.alarm(at: start.duration(to: .now))) }
  }

  private func perform(_ steps: [TokenFileRules.Step]) {
    for step in steps where !isEnding {
      switch step {
      case .ask:
        let (ask, generation) = (ask, rules.generation)
        request = Task { [weak self] in
          let answer = await ask()
          await self?.answered(answer, generation)
        }
      case .write(let bytes):
        do {
          try file.write(bytes)
          runHook()
        } catch { stop(Self.failure(error)) }
      case .remove: remove()
      case .end(let failure): stop(failure)
      }
    }
    setAlarm()
  }

  private func remove() {
    do {
      try file.remove()
      runHook()
    } catch {
      // The token stays where it must not be: the exit status says so.
      failure = Self.failure(error)
      stop(failure)
    }
  }

  private static func failure(_ error: SystemCallError) -> CommandFailure {
    CommandFailure(message: "The token's file can't be kept: \(error).", reason: "output", status: 1)
  }

  private func setAlarm() {
    alarm?.cancel()
    guard !isEnding, let next = rules.nextAlarm else { return }
    let pause = max(.zero, next - start.duration(to: .now))
    alarm = Task { [weak self] in
      guard (try? await Task.sleep(for: pause)) != nil else { return }
      await self?.ring()
    }
  }

  /// Reports a failure, unless the last one was the same.
  private func note(_ failure: CommandFailure) {
    guard failure.reason != reported?.reason else { return }
    reported = failure
    for line in failure.lines { report(line) }
  }

  // MARK: The hook

  /// Runs the hook, or once more after the run that is in progress.
  private func runHook() {
    guard let hook else { return }
    isHookDue = true
    guard !isHookRunning else { return }
    isHookRunning = true
    Task {
      while isHookDue {
        isHookDue = false
        if let complaint = await hook.run() { report(complaint) }
      }
      isHookRunning = false
      if isEnding { ending.resolve(.success(failure)) }
    }
  }
}
