import Foundation
import Testing

/// Restarts and upgrades seen from raw connections, which have no library that connects again.
@Suite struct HandOverTests {
  /// A Debian that the packages are for, by the name of its release.
  enum Debian: String, CaseIterable {
    case bookworm, trixie

    /// Boots a machine with the packages in `/opt/packages`, runs `body` with it and ends it.
    func boot(_ body: @escaping @Sendable (Machine) async throws -> Void) async throws {
      // The image's own root has the package and its dependencies, systemd among them.
      let packages = "--bind-ro=\(MachineRoot.releases)/first/packages:/opt/packages"
      let options: [String] = self == .bookworm ? [] : [packages]
      try await Machine.with(root: self == .bookworm ? MachineRoot.path : Image.root, options: options) { machine in
        #expect(try await machine.sh(". /etc/os-release; echo $VERSION_CODENAME").output == "\(rawValue)\n")
        try await machine.sh("systemctl start sdkd.socket sdkd.service")
        try await body(machine)
      }
    }
  }

  /// Checks that nothing has happened to connections but events.
  private static func expectCalm(_ outcome: RawConnections.Outcome, events: Int, from line: SourceLocation) {
    #expect(outcome.closed == 0 && outcome.failed == 0, "\(outcome)", sourceLocation: line)
    #expect(outcome.others == [] && !outcome.isDoubled, "\(outcome)", sourceLocation: line)
    #expect(outcome.events == [events], "\(outcome)", sourceLocation: line)
  }

  /// Checks that no caller has waited much longer than a restart takes.
  private static func expectShort(
    _ name: String, _ outcome: RawConnections.Outcome, _ restarts: Durations, from line: SourceLocation
  ) {
    let ratio = restarts.ratio(of: outcome.longest)
    print("\(name), 200 connections: \(outcome). Longest wait: \(ratio) × the median restart, goal 1.5 ×.")
    #expect(ratio <= Durations.longestWait, "\(outcome); restarts: \(restarts)", sourceLocation: line)
  }

  @Test(
    "Two hundred connections that call and listen notice nothing of twenty restarts and two upgrades",
    arguments: Debian.allCases)
  func restarts(debian: Debian) async throws {
    try await debian.boot { machine in
      // The image has no sandbox, so no user is signed in there.
      if debian == .bookworm {
        try await machine.startSandbox()
        try await machine.signIn("alice", at: "desk")
      } else {
        try await machine.createInstance("desk")
      }
      let method = debian == .bookworm ? "token.get" : "storage.list"
      let (restarted, restarts) = try await RawConnections.with(200, in: machine, calling: method) {
        try await machine.restart(20)
      }
      print("20 restarts on \(debian): \(restarts)")
      Self.expectCalm(restarted, events: 21, from: #_sourceLocation)
      Self.expectShort("20 restarts on \(debian)", restarted, restarts, from: #_sourceLocation)
      let status = try await machine.sh("sdkctl status").output
      #expect(status.contains("Connections of the former daemon: 200 kept"), "\(status)")
      let journal = try await machine.sh("journalctl --sync; journalctl -u sdkd -o cat").output
      let kept = "Connections of the former daemon: 200 kept."
      #expect(journal.split(separator: "\n").count { $0 == kept } == 20, "\(journal)")
      let metrics = try await machine.sh("sdkctl call daemon.metrics").output
      #expect(metrics.contains(/sdkd_connections_handed_over_total{outcome=\\*"kept\\*"} 200/), "\(metrics)")

      try await machine.sh(PackageTests.formerPackage())
      let (upgraded, _) = try await RawConnections.with(200, in: machine, calling: method) {
        // Each upgrade follows the installation of the former version, which is a restart, too.
        try await machine.restart(
          2, by: "for each in /tmp/former/sdkd.deb /opt/packages/sdkd_*.deb; do dpkg --install $each > /dev/null; done")
      }
      Self.expectCalm(upgraded, events: 3, from: #_sourceLocation)
      Self.expectShort("2 upgrades on \(debian)", upgraded, restarts, from: #_sourceLocation)
    }
  }

  @Test(
    "A stop closes connections; after kill -9, clients that reconnect get an answer and each event once",
    arguments: Debian.allCases)
  func ends(debian: Debian) async throws {
    try await debian.boot { machine in
      try await machine.createInstance("desk")
      let (killed, kills) = try await RawConnections.with(200, in: machine, isReconnecting: true) {
        // Until the next daemon answers.
        try await machine.restart(3, by: "systemctl kill --signal=KILL sdkd.service; sdkctl list > /dev/null")
      }
      // Not 600: a connection that no daemon has accepted yet is not closed by the next kill.
      #expect(killed.closed >= 200 && killed.failed == 0 && killed.others == [], "\(killed)")
      #expect(killed.events == [4] && !killed.isDoubled, "\(killed)")
      print("3 × kill -9 on \(debian), 200 clients that reconnect: \(killed). sdkctl: \(kills). Goal 1300 ms.")
      let stopped = try await RawConnections.with(20, in: machine) {
        // A start soon after makes no difference.
        try await machine.sh("systemctl stop sdkd.service; systemctl start sdkd.service")
      }.outcome
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
          try await machine.restart(5, sdkctl: sdkctl, by: restart)
        }.outcome
        Self.expectCalm(outcome, events: 6, from: #_sourceLocation)
      }
    }
  }

  @Test("Two thousand connections that listen are kept")
  func many() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      // Without changes: what is measured is the restart, not two thousand events.
      var alone = try await machine.restart(5, sdkctl: "true")
      let (outcome, crowded) = try await RawConnections.with(2000, in: machine, calling: nil) {
        let restarts = try await machine.restart(5, sdkctl: "true")
        try await machine.sh("sdkctl update desk --label n=end > /dev/null")
        return restarts
      }
      alone.add(try await machine.restart(5, sdkctl: "true"))
      Self.expectCalm(outcome, events: 1, from: #_sourceLocation)
      let ratio = alone.ratio(of: crowded.median)
      print("Restarts without connections: \(alone); with 2,000: \(crowded), \(ratio) ×, goal 1.5 ×.")
      // Measured: 2.2 to 3.4. With a cost that grows with the square it is ten times as much.
      #expect(ratio <= 6, "without: \(alone); with 2,000: \(crowded)")
    }
  }
}
