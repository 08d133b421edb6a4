import Concurrency
import Linux
import Logging
import SDKInstances
import SDKProtocol
import ServiceLifecycle
import StateStore
import Systemd
import UnixSignals

/// A service that applies the configuration read at the start, which admits calls.
struct StartService: Service {
  let reloader: Reloader
  let loaded: ConfigurationLoader.Loaded

  func run() async throws {
    await reloader.begin(with: loaded)
    try? await gracefulShutdown()
  }
}

/// A service that runs the only writer of the state. It stops last, when no other service stores anything.
struct StoreService: Service {
  let store: SQLiteStateStore

  func run() async {
    await withGracefulShutdownHandler {
      await store.run()
    } onGracefulShutdown: {
      store.stop()
    }
  }
}

/// A service that runs shared work. On shutdown it accepts no more, and lets running work end within a time limit.
struct OperationsService: Service {
  let operations: Operations
  /// Returns the time that work in progress gets at the end, before it is cancelled. Acknowledged changes are durable
  /// long before.
  let patience: @Sendable () -> Duration
  /// Ends the requests to vendors that are then in progress.
  let hangUp: @Sendable () async -> Void

  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await withGracefulShutdownHandler {
          await operations.run()
        } onGracefulShutdown: {
          operations.finish()
        }
      }
      group.addTask {
        try? await gracefulShutdown()
        try? await Task.sleep(for: patience())
        await hangUp()
      }
      await group.next()
      group.cancelAll()
    }
  }
}

/// The wall-clock timer, as the deadlines arm it.
struct ArmedTimer: DeadlineTimer {
  let timer: WallClockTimer

  func arm(at time: Timestamp?) { timer.arm(secondsSince1970: time?.secondsSince1970) }
}

/// A service that runs the work of passed deadlines, and notifies the instances when the clock was set.
struct DeadlineService: Service {
  private let timer: WallClockTimer

  init(_ timer: WallClockTimer, _ deadlines: Deadlines, _ host: InstanceHost) throws(SystemCallError) {
    self.timer = timer
    try timer.start { wake in
      deadlines.wake()
      if wake == .clockWasSet { host.clockWasSet() }
    }
  }

  func run() async throws {
    try? await gracefulShutdown()
    timer.cancel()
  }
}

/// A service that reloads the configuration at each SIGHUP. The journal has the result.
struct HangupService: Service {
  let reloader: Reloader
  let operations: Operations

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      operations.start { _ = try? await reloader.reload() }
    }
  }
}

/// A service that repeats its work, with a pause before each time.
struct RepeatingService: Service {
  let interval: Duration
  let work: @Sendable () async -> Void

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do { try await Task.sleep(for: interval) } catch { return }
        await work()
      }
    }
  }
}

/// A service that restarts the program when the state directory, which was not writable at the start, becomes writable.
struct StateHealingService: Service {
  let directory: String
  let restart: ProgramRestart
  /// Writes pending audit and log records.
  let flush: @Sendable () -> Void
  let logger: Logger

  private static let pause = Duration.seconds(2)
  /// The thread of the checks: the disk may hang, and no thread of the task pool may wait for it.
  private let thread = BlockingPool(name: "sdkd-state", maximum: 1)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: Self.pause)) != nil {
        guard await isWritable() else { continue }
        logger.notice("The state in \(directory) can be written: the daemon starts anew with it.")
        flush()
        restart.run()
        logger.error("The daemon can't start anew; restart it.")
        return
      }
    }
  }

  private func isWritable() async -> Bool {
    (try? await thread.run { [directory] in StateAccess.isWritable(directory) }) ?? false
  }
}
