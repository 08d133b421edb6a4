#if DEBUG
  import Glibc
  import NIOCore
  import NIOPosix
  import SDKInstances
  import ServiceLifecycle
  import StateStore
  import Synchronization
  import UnixSignals

  /// A service for tests of the watchdog: at SIGUSR1 it stalls the part of the daemon that `SDKD_DEBUG_WEDGE` names.
  /// Release builds do not contain it.
  struct DebugWedge: Service {
    let group: MultiThreadedEventLoopGroup
    let operations: Operations
    let registry: InstanceRegistry
    let database: SQLiteStateStore?

    private static let slowUntil = Mutex<ContinuousClock.Instant?>(nil)
    private static let slowness = Duration.seconds(12)

    static var part: String? { getenv("SDKD_DEBUG_WEDGE").map { String(cString: $0) } }

    func run() async {
      for await _ in await UnixSignalsSequence(trapping: .sigusr1).cancelOnGracefulShutdown() {
        switch Self.part {
        case "loop": group.next().execute { Self.block() }
        case "pool": for _ in 0..<256 { operations.start { Self.block() } }
        case "actor": operations.start { [registry] in await registry.instances.first?.run { Self.block() } }
        case "writer": database?.answer { Self.block() }
        case "disk":
          Self.slowUntil.withLock { $0 = .now + Self.slowness }
          database?.answer { Self.waitForSlowDisk() }
        default: break
        }
      }
    }

    /// Simulates a disk that is slow for a while.
    static func waitForSlowDisk() {
      while let end = slowUntil.withLock({ $0 }), end > .now { usleep(50_000) }
    }

    private static func block() { while true { pause() } }
  }
#endif
