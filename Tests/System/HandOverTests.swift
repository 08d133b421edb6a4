import Foundation
import Testing

/// Restarts and upgrades seen from raw connections, which have no library that connects again.
@Suite struct HandOverTests {
  /// Restarts a daemon again and again, with a change of `desk` before each.
  ///
  /// - Parameter sdkctl: the command, with the options that select the daemon; `true` changes nothing.
  /// - Returns: the durations of the restarts in milliseconds, sorted.
  private static func restart(
    _ machine: Machine, _ times: Int, sdkctl: String = "sdkctl", by systemctl: String = "systemctl restart sdkd.service"
  ) async throws -> [Int] {
    try await machine.sh(
      """
      for i in $(seq \(times)); do
        \(sdkctl) update desk --label n=$i > /dev/null
        begin=${EPOCHREALTIME/./}; \(systemctl); echo $(((${EPOCHREALTIME/./} - begin) / 1000))
      done
      \(sdkctl) update desk --label n=end > /dev/null
      """, within: 300
    ).output.split(separator: "\n").compactMap { Int($0) }.sorted()
  }

  /// Checks that nothing has happened to connections but events.
  private static func expectCalm(_ outcome: RawConnections.Outcome, events: Int, from line: SourceLocation) {
    #expect(outcome.closed == 0 && outcome.failed == 0, "\(outcome)", sourceLocation: line)
    #expect(outcome.others == [] && !outcome.isDoubled, "\(outcome)", sourceLocation: line)
    #expect(outcome.events == [events], "\(outcome)", sourceLocation: line)
  }

  @Test("Two hundred connections that call and listen notice nothing of twenty restarts and two upgrades")
  func restarts() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.signIn("alice", at: "desk")
      let durations = Durations()
      let restarted = try await RawConnections.with(200, in: machine, calling: "token.get") {
        await durations.add(try await Self.restart(machine, 20))
      }
      Self.expectCalm(restarted, events: 21, from: #_sourceLocation)
      print("20 restarts with 200 connections: \(await durations.words). \(restarted)")
      let status = try await machine.sh("sdkctl status").output
      #expect(status.contains("Connections of the former daemon: 200 kept"), "\(status)")
      let journal = try await machine.sh("journalctl --sync; journalctl -u sdkd -o cat").output
      let kept = "Connections of the former daemon: 200 kept."
      #expect(journal.split(separator: "\n").count { $0 == kept } == 20, "\(journal)")
      let metrics = try await machine.sh("sdkctl call daemon.metrics").output
      #expect(metrics.contains(/sdkd_connections_handed_over_total{outcome=\\*"kept\\*"} 200/), "\(metrics)")

      try await machine.sh(PackageTests.formerPackage() + "dpkg --install /tmp/former/sdkd.deb >/dev/null 2>&1")
      let upgraded = try await RawConnections.with(200, in: machine, calling: "token.get") {
        let upgrade = "dpkg --install /opt/packages/sdkd_*.deb >/dev/null 2>&1"
        try await machine.sh("\(upgrade); dpkg --install /tmp/former/sdkd.deb >/dev/null 2>&1; \(upgrade)")
      }
      Self.expectCalm(upgraded, events: 0, from: #_sourceLocation)
      print("2 upgrades with 200 connections: \(upgraded)")
    }
  }

  @Test("On Debian 13, too")
  func trixie() async throws {
    try await Machine.with(root: Image.root) { machine in
      #expect(try await machine.sh(". /etc/os-release; echo $VERSION_CODENAME").output == "trixie\n")
      try await machine.sh("systemctl start sdkd.socket sdkd.service")
      try await machine.createInstance("desk")
      let durations = Durations()
      let restarted = try await RawConnections.with(200, in: machine) {
        await durations.add(try await Self.restart(machine, 20))
      }
      Self.expectCalm(restarted, events: 21, from: #_sourceLocation)
      print("20 restarts on Debian 13 with 200 connections: \(await durations.words). \(restarted)")
      let stopped = try await RawConnections.with(20, in: machine) {
        try await machine.sh("systemctl stop sdkd.service; systemctl start sdkd.service")
      }
      #expect(stopped.closed == 20, "\(stopped)")
    }
  }

  @Test("The daemons of a tenant and of a user keep connections, too")
  func otherUnits() async throws {
    try await Machine.with { machine in
      let alice = try await machine.user("alice")
      try await machine.startSandbox()
      try await machine.sh(
        """
        install -d -m 750 -g sdkd-tenants /etc/sdkd-tenants/acme /etc/sdkd-tenants/acme/instances.d
        systemctl start sdkd@acme.socket
        \(alice) systemctl --user start sdkd.socket
        """)
      let uid = try await machine.sh("id -u alice").output.dropLast()
      for (sdkctl, socket, restart) in [
        ("sdkctl --tenant acme", "/run/sdkd-tenants/acme.sock", "systemctl restart sdkd@acme.service"),
        ("\(alice) sdkctl", "/run/user/\(uid)/sdkd/sdkd.sock", "\(alice) systemctl --user restart sdkd.service"),
      ] {
        try await machine.signIn("alice", at: "desk", sdkctl: sdkctl)
        let outcome = try await RawConnections.with(20, in: machine, socket: socket, calling: "token.get") {
          _ = try await Self.restart(machine, 5, sdkctl: sdkctl, by: restart)
        }
        Self.expectCalm(outcome, events: 6, from: #_sourceLocation)
      }
    }
  }

  @Test("Two thousand connections that listen are kept")
  func many() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      let alone = Durations()
      let crowded = Durations()
      // Without changes: what is measured is the restart, not two thousand events.
      await alone.add(try await Self.restart(machine, 5, sdkctl: "true"))
      let outcome = try await RawConnections.with(2000, in: machine, calling: nil) {
        await crowded.add(try await Self.restart(machine, 5, sdkctl: "true"))
        try await machine.sh("sdkctl update desk --label n=end > /dev/null")
      }
      Self.expectCalm(outcome, events: 1, from: #_sourceLocation)
      print("5 restarts without connections: \(await alone.words); with 2,000: \(await crowded.words)")
    }
  }

  @Test("A stop, also with a start soon after, closes connections")
  func stop() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      let outcome = try await RawConnections.with(20, in: machine) {
        try await machine.sh("systemctl stop sdkd.service; systemctl start sdkd.service")
      }
      #expect(outcome.closed == 20, "\(outcome)")
    }
  }
}

/// The durations of restarts, in milliseconds.
private actor Durations {
  private var all: [Int] = []

  func add(_ some: [Int]) { all = (all + some).sorted() }

  var words: String { "median \(all[all.count / 2]) ms, longest \(all.last ?? 0) ms" }
}
