import Testing

/// The watchdog under systemd: whichever part stalls, the daemon is killed, restarted and serves again.
///
/// Debug builds, such as those built with the tests, have a hook that stalls a part at SIGUSR1.
@Suite struct WatchdogTests {
  /// Runs `body` on a machine with one instance, whose daemon stalls `part` at SIGUSR1.
  private func with(_ part: String, _ body: @escaping @Sendable (Machine) async throws -> Void) async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        mkdir -p /etc/systemd/system/sdkd.service.d
        cat > /etc/systemd/system/sdkd.service.d/wedge.conf <<'END'
        [Service]
        ExecStart=
        ExecStart=/opt/sdkd-debug/sdkd
        WatchdogSec=2s
        Environment=SDKD_DEBUG_WEDGE=\(part)
        END
        systemctl daemon-reload
        systemctl restart sdkd.service
        sdkctl --system create desk --kind zendesk.messaging --setting base_url=http://127.0.0.1:1 \\
          --setting app_id=5f0000000000000000000001
        """)
      try await body(machine)
    }
  }

  @Test(arguments: [("loop", "event loop"), ("pool", "task pool"), ("actor", "instances"), ("writer", "store")])
  func aWedgeEndsInARestart(part: String, name: String) async throws {
    try await with(part) { machine in
      let former = try await machine.sh("systemctl show -P MainPID sdkd.service").output
      try await machine.sh("kill -USR1 $(systemctl show -P MainPID sdkd.service)")
      try await machine.eventually(
        "systemd has restarted the daemon", within: 60,
        """
        test "$(systemctl show -P NRestarts sdkd.service)" = 1
        test "$(systemctl show -P ActiveState sdkd.service)" = active
        """)
      #expect(try await machine.sh("systemctl show -P MainPID sdkd.service").output != former)
      #expect(try await machine.sh("sdkctl --system list -o jsonl").output.contains("desk"))
      // The daemon logs the part that does not respond before systemd logs the watchdog timeout.
      let journal = try await machine.journal("-u sdkd.service -o cat") {
        $0.contains("No answer from") && $0.contains("Watchdog timeout")
      }
      #expect(journal.contains("No answer from") && journal.contains(name), "\(journal)")
      #expect(journal.contains("Watchdog timeout"))
      let explained = try await machine.sh("journalctl -x -u sdkd.service --no-pager").output
      #expect(explained.contains("A part of the daemon does not respond"))
    }
  }

  @Test func aSlowDiskIsToldAndEndsNothing() async throws {
    try await with("disk") { machine in
      let former = try await machine.sh("systemctl show -P MainPID sdkd.service").output
      try await machine.sh("kill -USR1 $(systemctl show -P MainPID sdkd.service)")
      try await machine.eventually(
        "health says that the disk is slow", "sdkctl --system status | grep -E 'disk +degraded'")
      // The stall lasts six times WatchdogSec. A change made meanwhile waits and is then committed.
      try await machine.sh("sdkctl --system update desk --label floor=2")
      try await machine.eventually(
        "all is well again",
        "sdkctl --system status | grep -E '^health +ok'")
      #expect(try await machine.sh("systemctl show -P MainPID -P NRestarts sdkd.service").output.hasPrefix(former))
      let journal = try await machine.journal("-u sdkd.service -o cat") { $0.contains("The disk answers again.") }
      #expect(journal.contains("has not answered for") && journal.contains("The disk answers again."))
      #expect(!journal.contains("Watchdog timeout"))
    }
  }

  @Test func whatIsReleasedHasNoHook() async throws {
    try await Machine.with { machine in
      let same = try await machine.run(["cmp", "-s", "/usr/bin/sdkd", "/opt/sdkd-debug/sdkd"])
      let found = try await machine.run(["grep", "-c", "SDKD_DEBUG_WEDGE", "/usr/bin/sdkd"])
      // A root for development contains the debug programs, which do have the hook.
      #expect(found.status == (same.status == 0 ? 0 : 1))
    }
  }
}
