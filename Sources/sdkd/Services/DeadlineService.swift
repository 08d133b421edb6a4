import Linux
import SDKInstances
import SDKProtocol
import ServiceLifecycle
import Systemd

/// The wall-clock timer of the deadlines. It also fires when the clock is set.
final class DeadlineService: Service, DeadlineTimer {
  private let timer: WallClockTimer

  init(_ deadlines: Deadlines) throws(SystemCallError) {
    timer = try WallClockTimer { deadlines.wake(clockWasSet: $0 == .clockWasSet) }
    deadlines.attach(self)
  }

  func arm(at time: Timestamp?) { timer.arm(secondsSince1970: time?.secondsSince1970) }

  func run() async throws {
    try? await gracefulShutdown()
    timer.cancel()
  }
}
