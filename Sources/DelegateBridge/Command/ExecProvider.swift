import CLinux
import Glibc
import Linux
import Logging
import Subprocess
import SystemPackage

/// A runner of configured commands as children of the daemon.
///
/// swift-subprocess starts the program in a session of its own, with every descriptor above 2 closed, and reaps it.
/// `ProviderWatch` does the rest, because the library doesn't report the death of a running process before it reaps it.
/// The rest of the process group can be killed safely only between the two. `createSession` is the only option set:
/// others would make the library fork in a way that can hang.
struct ExecProvider: ProviderRunning {
  /// The check that decides which programs may run.
  var check: ProgramCheck
  /// The logger for standard error.
  var logger: Logger

  func run(_ invocation: ProviderInvocation) async -> ProviderRun {
    let deadline = ContinuousClock.now + invocation.timeout
    let program: String
    do throws(ProgramCheck.Refusal) {
      program = try check.resolve(invocation.arguments.first ?? "")
    } catch {
      switch error {
      case .missing(let sentence): return ProviderRun(ending: .notStarted(sentence))
      case .notAllowed(let sentence): return ProviderRun(ending: .notAllowed(sentence))
      }
    }
    let running = RunningProviders.shared.begin()
    defer { RunningProviders.shared.end(running) }
    var invocation = invocation
    invocation.environment[RunningProviders.variable] = RunningProviders.shared.tag(of: running)
    for _ in 0..<Self.busyAttempts {
      if let run = await spawn(program, invocation, deadline, unlessBusy: true) { return run }
      await Pause.uncancelled(.milliseconds(50))
    }
    return await spawn(program, invocation, deadline, unlessBusy: false)
      ?? ProviderRun(ending: .notStarted("The token provider is being written; run it again later."))
  }

  /// The number of retries for a program that is being written, 50 ms apart: a deployment is brief.
  private static let busyAttempts = 5

  /// Starts the program, and waits until it has ended and its process group is killed.
  ///
  /// - Returns: the run, also of a program that could not be started. `nil` if the program's file is open for writing
  ///   (`ETXTBSY`) and `unlessBusy` is set: the caller then tries again.
  private func spawn(
    _ program: String, _ invocation: ProviderInvocation, _ deadline: ContinuousClock.Instant, unlessBusy: Bool
  ) async -> ProviderRun? {
    guard DescriptorRoom.isThere(), let (pipes, ends) = ProviderPipes.make() else {
      return ProviderRun(ending: .notStarted("The daemon has too many open files to run the token provider."))
    }
    let numbers = ends.map { FileDescriptor(rawValue: $0.raw) }
    do {
      let result = try await Subprocess.run(
        Self.configuration(invocation, program),
        input: .fileDescriptor(numbers[0], closeAfterSpawningProcess: false),
        output: .fileDescriptor(numbers[1], closeAfterSpawningProcess: false),
        error: .fileDescriptor(numbers[2], closeAfterSpawningProcess: false)
      ) { execution in
        // The provider has its own copies by now. If ours stayed open, the pipes would never reach their end.
        for end in ends { end.close() }
        return await watch(execution.processIdentifier.value, pipes, invocation, deadline)
      }
      if await !ProcessGroup(id: result.processIdentifier.value).isGone(within: .seconds(1)) {
        logger.warning("processes of the token provider can't be ended", metadata: invocation.metadata)
      }
      let report = result.closureResult
      let ending = report.interference ?? (Task.isCancelled ? .cancelled : Self.ending(result.terminationStatus))
      return ProviderRun(ending: ending, output: report.output)
    } catch {
      if unlessBusy, (error as? SubprocessError)?.underlyingError == .textFileBusy { return nil }
      logger.warning("the token provider did not start: \(error)", metadata: invocation.metadata)
      let sentence = "The token provider could not be started; the journal says why."
      return ProviderRun(ending: Task.isCancelled ? .cancelled : .notStarted(sentence))
    }
  }

  private static func configuration(_ invocation: ProviderInvocation, _ program: String) -> Configuration {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [
      .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: ProviderWatch.grace)
    ]
    var variables: [Environment.Key: String] = [:]
    for (name, value) in invocation.environment {
      if let key = Environment.Key(rawValue: name) { variables[key] = value }
    }
    return Configuration(
      executable: .path(FilePath(program)),
      arguments: Arguments(
        executablePathOverride: invocation.arguments.first, remainingValues: Array(invocation.arguments.dropFirst())),
      environment: .custom(variables),
      workingDirectory: FilePath(invocation.workingDirectory),
      platformOptions: options)
  }

  /// Watches a spawned provider on a thread until it has died and its group is killed.
  private func watch(
    _ pid: pid_t, _ pipes: ProviderPipes, _ invocation: ProviderInvocation, _ deadline: ContinuousClock.Instant
  ) async -> ProviderWatch.Report {
    let group = ProcessGroup(id: pid)
    return await withCheckedContinuation { continuation in
      do {
        try SystemThread.start(name: "provider", stackSize: ProviderWatch.stackSize) {
          continuation.resume(returning: watchBlocking(group, pipes, invocation, deadline))
        }
      } catch {
        group.kill()
        continuation.resume(returning: .init(interference: .notStarted("The daemon has no room for another thread.")))
      }
    }
  }

  private func watchBlocking(
    _ group: ProcessGroup, _ pipes: ProviderPipes, _ invocation: ProviderInvocation,
    _ deadline: ContinuousClock.Instant
  ) -> ProviderWatch.Report {
    let pidfd = cl_pidfd_open(group.id)
    guard pidfd >= 0 else {
      group.kill()
      return .init(interference: .notStarted("The daemon has too many open files to watch the token provider."))
    }
    defer { close(pidfd) }
    var watch = ProviderWatch(
      group: group, pidfd: pidfd, pipes: pipes, invocation: invocation, deadline: deadline,
      onLine: { logger.notice("\($0)", metadata: invocation.outputMetadata) })
    return watch.run()
  }

  private static func ending(_ status: TerminationStatus) -> ProviderEnding {
    switch status {
    case .exited(let code): .exited(code)
    case .signaled(let signal): .signalled(signal)
    }
  }
}
