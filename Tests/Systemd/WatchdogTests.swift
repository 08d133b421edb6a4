import Glibc
import Systemd
import Testing

@Suite struct WatchdogTests {
  @Test func interval() async {
    await #expect(processExitsWith: .success) {
      unsetenv("WATCHDOG_PID")
      unsetenv("WATCHDOG_USEC")
      #expect(Watchdog.interval() == nil)
      setenv("WATCHDOG_USEC", "30000000", 1)
      #expect(Watchdog.interval() == .seconds(30))
      setenv("WATCHDOG_PID", "1", 1)
      #expect(Watchdog.interval() == nil, "the watchdog of another process")
      setenv("WATCHDOG_PID", String(getpid()), 1)
      #expect(Watchdog.interval() == .seconds(30))
      setenv("WATCHDOG_USEC", "soon", 1)
      #expect(Watchdog.interval() == nil)
    }
  }
}
