import Testing

/// Starts of the unit with missing, foreign or unusable files. The journal and the status text state the error and the
/// remedy.
@Suite struct BadStartTests {
  @Test func missingDirectoriesAreMadeAgain() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        systemctl stop sdkd.service sdkd.socket
        rm -r /var/lib/sdkd /run/sdkd /etc/sdkd
        systemctl start sdkd.socket
        """)
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
      #expect(try await machine.sh("stat -c '%a %U' /var/lib/sdkd /run/sdkd").output == "700 sdkd\n755 root\n")
    }
  }

  @Test func instancesOutliveTheDirectoryOfTheirFiles() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.sh(
        """
        cat > /etc/sdkd/instances.d/desk.toml <<'END'
        id = "desk"
        kind = "zendesk.messaging"
        [settings]
        base_url = "http://127.0.0.1:8787/zm"
        app_id = "5f0000000000000000000001"
        END
        systemctl reload sdkd.service
        sdk-sandbox mint --external-id alice | sdkctl login desk
        mv /etc/sdkd /etc/away
        systemctl restart sdkd.service
        """)
      let template = "--template '{state} {user.externalId}'"
      #expect(try await machine.sh("sdkctl show desk \(template)").output == "authenticated alice\n")
      let status = try await machine.sh("systemctl show sdkd -P StatusText").output
      #expect(status.contains("/etc/sdkd/instances.d: The directory is missing"), "\(status)")
      #expect(try await machine.run(["systemctl", "reload", "sdkd.service"]).status != 0)
      #expect(try await machine.sh("sdkctl show desk \(template)").output == "authenticated alice\n")
      // With an empty directory, unlike with a missing one, a reload removes the instances that files defined.
      try await machine.sh("mkdir -p /etc/sdkd/instances.d; systemctl reload sdkd.service")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
    }
  }

  @Test func aFileInTheStatesPlaceFailsTheUnitOnceAndIsNamed() async throws {
    try await Machine.with { machine in
      try await machine.sh("systemctl stop sdkd.service; rm -r /var/lib/sdkd; echo mine > /var/lib/sdkd")
      #expect(try await machine.run(["systemctl", "start", "sdkd.service"]).status != 0)
      let status = try await machine.run(["systemctl", "status", "--no-pager", "--full", "sdkd.service"]).output
      #expect(status.contains("status=238/STATE_DIRECTORY"), "\(status)")
      // A child of systemd logs this. If it exits before journald reads its unit, the entry has no unit; so search the
      // whole journal.
      let named = "sdkd.service: Failed to set up special execution directory in /var/lib: "
      let journal = try await machine.journal("-o cat") { $0.contains(named) }
      #expect(journal.contains(named), "\(journal)")
      let left = try await machine.sh("systemctl show sdkd -P ActiveState; cat /var/lib/sdkd").output
      #expect(left == "failed\nmine\n", "no start is tried again, and the file stays")
      try await machine.sh("rm /var/lib/sdkd; systemctl reset-failed; systemctl start sdkd.socket sdkd.service")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
    }
  }

  @Test("A crash loop ends in a failed state, which the journal explains and doctor knows how to leave")
  func aCrashLoopEndsInAFailedState() async throws {
    try await Machine.with { machine in
      let shipped =
        "systemctl show sdkd.service sdkd@acme.service -P RestartUSec -P StartLimitIntervalUSec -P StartLimitBurst"
      let values = try await machine.sh(shipped).output.split(separator: "\n").sorted()
      #expect(values == ["1s", "1s", "5min", "5min", "60", "60"])
      // A failing start with shorter limits, so that the start limit is reached within seconds.
      try await machine.sh(
        """
        mkdir -p /etc/systemd/system/sdkd.service.d
        printf '[Unit]\\nStartLimitBurst=4\\n[Service]\\nRestartSec=100ms\\nExecStart=\\nExecStart=/bin/false\\n' \\
          > /etc/systemd/system/sdkd.service.d/loop.conf
        systemctl daemon-reload; systemctl restart sdkd.service || true
        """)
      try await machine.eventually(
        "the service has failed", "test $(systemctl show sdkd.service -P ActiveState) = failed")
      let said = try await machine.journal("-o cat -p err -t sdkd") { $0.contains("sdkd.service failed") }
      #expect(
        said.contains("sdkd.service failed and is not started again: ") && said.contains("Result=exit-code"), "\(said)")
      let repair = "systemctl reset-failed sdkd.socket sdkd.service; systemctl start sdkd.socket sdkd.service"
      #expect(said.contains("Then: \(repair)"), "\(said)")
      // Clients do not wait at a socket without a service: the socket fails too, and the journal reports it.
      _ = try await machine.run(["sdkctl", "list"], within: 60)
      let socket = try await machine.sh("systemctl show sdkd.socket -P ActiveState").output
      #expect(socket == "failed\n")
      let socketSaid = try await machine.journal("-o cat -p err -t sdkd") { $0.contains("sdkd.socket failed") }
      #expect(socketSaid.contains("sdkd.socket failed and is not started again"), "\(socketSaid)")
      let doctor = try await machine.run(["sdkctl", "doctor"], within: 60)
      #expect(doctor.status == 1 && doctor.output.contains(repair), "\(doctor)")
      try await machine.sh("rm /etc/systemd/system/sdkd.service.d/loop.conf; systemctl daemon-reload; \(repair)")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
    }
  }

  @Test func aStateThatItMayNotReadDegradesIt() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        "systemctl stop sdkd.service; chown root: /var/lib/sdkd/state.db; chmod 600 /var/lib/sdkd/state.db*")
      let before = try await machine.sh("sha256sum /var/lib/sdkd/state.db").output
      try await machine.sh("systemctl start sdkd.service")
      let status = try await machine.sh("systemctl show sdkd -P StatusText").output
      #expect(status.contains("degraded: ") && status.contains("/var/lib/sdkd"), "\(status)")
      #expect(try await machine.run(["sdkctl", "list"]).error.contains("(storeUnavailable)"))
      #expect(try await machine.sh("sha256sum /var/lib/sdkd/state.db").output == before)
      try await machine.sh("chown sdkd: /var/lib/sdkd/state.db; systemctl restart sdkd.service")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
    }
  }

  /// Runs a daemon as `sdkd` under systemd that has to make its own socket, and returns how it ended.
  ///
  /// - Parameter message: the text to wait for in the journal, which may store the program's lines after systemd's.
  private func ending(
    _ machine: Machine, socket: String, state: String = "/var/tmp/other", saying message: String
  ) async throws -> (status: String, text: String, journal: String) {
    _ = try await machine.run([
      "bash", "-c",
      """
      systemctl reset-failed bad 2>/dev/null
      systemd-run --quiet --unit=bad -p Type=notify -p User=sdkd -p NotifyAccess=main -p Restart=on-failure \\
        -p RestartPreventExitStatus='64 75 77' /usr/bin/sdkd --socket \(socket) --state \(state)
      """,
    ])
    func show(_ name: String) async throws -> String { try await machine.sh("systemctl show bad -P \(name)").output }
    let values = (try await show("ExecMainStatus"), try await show("StatusText"))
    // Filter by program name: for a process that ends early, journald may not know the unit.
    let journal = try await machine.journal("-t systemd -t sdkd -o cat") { $0.contains(message) }
    return (values.0, values.1, journal)
  }

  @Test func aForeignSocketIsLeftAloneAndNamed() async throws {
    try await Machine.with { machine in
      // The directory is writable for everyone, so only the check of the owner protects the socket.
      try await machine.sh(
        """
        useradd alice; install -d -m 777 /srv/desk
        systemd-run --quiet --unit=owner --uid=alice systemd-socket-activate -l /srv/desk/s /bin/true
        """)
      try await machine.eventually("the socket is there", "test -S /srv/desk/s")
      let owner = try await machine.sh("id -u alice").output.dropLast()
      try await machine.sh("systemctl stop owner; ! sdkctl --socket /srv/desk/s status")
      let message = "The socket /srv/desk/s belongs to another user (uid \(owner))."
      let end = try await ending(machine, socket: "/srv/desk/s", saying: message)
      #expect(end.status == "77\n")
      #expect(end.text.contains(message), "\(end.text)")
      #expect(end.journal.contains(message), "\(end.journal)")
      #expect(!end.journal.contains("bad.service: Scheduled restart"))
      #expect(try await machine.sh("stat -c %U /srv/desk/s").output == "alice\n")
    }
  }

  @Test func aSecondDaemonOnTheStateSaysSo() async throws {
    try await Machine.with { machine in
      let message = "The state in /var/lib/sdkd is in use"
      let end = try await ending(machine, socket: "/var/tmp/s", state: "/var/lib/sdkd", saying: message)
      #expect(end.status == "75\n")
      #expect(end.text.contains(message), "\(end.text)")
      #expect(end.journal.contains(message), "\(end.journal)")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
    }
  }

  @Test func aSocketTooManyIsWrongUsage() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        systemctl stop sdkd.service sdkd.socket
        mkdir -p /etc/systemd/system/sdkd.socket.d
        printf '[Socket]\\nListenStream=/run/sdkd/desk.sock\\n' > /etc/systemd/system/sdkd.socket.d/path.conf
        systemctl daemon-reload
        systemctl start sdkd.socket
        ! systemctl start sdkd.service
        """)
      #expect(try await machine.sh("systemctl show sdkd -P ExecMainStatus").output == "64\n")
      #expect(try await machine.sh("systemctl show sdkd -P StatusText").output.contains("an empty ListenStream="))
      try await machine.sh(
        """
        printf '[Socket]\\nListenStream=\\nListenStream=/run/sdkd/desk.sock\\n' > /etc/systemd/system/sdkd.socket.d/path.conf
        systemctl daemon-reload; systemctl stop sdkd.socket; systemctl reset-failed
        systemctl start sdkd.socket
        """)
      #expect(try await machine.sh("sdkctl --socket /run/sdkd/desk.sock list -o json").output == "[]\n")
    }
  }
}
