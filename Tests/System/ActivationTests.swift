import Testing

/// Socket activation: systemd owns the socket and starts the daemon at the first connection.
@Suite struct ActivationTests {
  @Test func theFirstCallStartsTheDaemonAndIsAnswered() async throws {
    try await Machine.with { machine in
      try await machine.sh("systemctl stop sdkd.service; systemctl start sdkd.socket")
      #expect(try await machine.run(["systemctl", "is-active", "sdkd.service"]).output == "inactive\n")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
      // systemd still removes the decrypted key when the daemon answers already.
      try await machine.eventually("it is active", "systemctl is-active sdkd.service")
    }
  }

  @Test func manyFirstCallsAreAllAnsweredByOneStart() async throws {
    try await Machine.with { machine in
      let answers = try await machine.sh(
        """
        systemctl stop sdkd.service; systemctl start sdkd.socket
        for i in $(seq 40); do sdkctl list -o json & done; wait
        """)
      #expect(answers.output == String(repeating: "[]\n", count: 40))
      let journal = try await machine.journal("-u sdkd -o cat") { $0.matches(of: /Started sdkd.service/).count == 2 }
      #expect(journal.matches(of: /Started sdkd.service/).count == 2)
      #expect(!journal.contains("thread priority"), "a line that tells nobody anything: \(journal)")
    }
  }

  @Test func modeAndGroupAreAsConfiguredFromTheFirstMoment() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        groupadd desks; useradd -G desks member; useradd stranger
        systemctl stop sdkd.service sdkd.socket
        mkdir -p /etc/systemd/system/sdkd.socket.d
        printf '[Socket]\\nSocketMode=0660\\nSocketGroup=desks\\n' > /etc/systemd/system/sdkd.socket.d/access.conf
        systemctl daemon-reload
        systemctl start sdkd.socket
        """)
      func owner() async throws -> String { try await machine.sh("stat -c '%a %U %G' /run/sdkd/sdkd.sock").output }
      func status(_ user: String) async throws -> Int32 {
        try await machine.run(["runuser", "-u", user, "--", "sdkctl", "list"]).status
      }
      #expect(try await owner() == "660 root desks\n")
      #expect(try await status("stranger") == 4)
      #expect(try await machine.run(["systemctl", "is-active", "sdkd.service"]).output == "inactive\n")
      #expect(try await status("member") == 0)
      try await machine.sh("systemctl restart sdkd.service")
      #expect(try await owner() == "660 root desks\n")
      #expect(try await status("stranger") == 4)
      #expect(try await status("member") == 0)
    }
  }

  @Test("A stopped socket leaves no file behind, and a stopped service no status")
  func whatIsStoppedLeavesNothingBehind() async throws {
    try await Machine.with { machine in
      #expect(try await machine.sh("systemctl show sdkd -P StatusText").output.contains("0 instances"))
      try await machine.sh("systemctl stop sdkd.socket sdkd.service; test ! -e /run/sdkd/sdkd.sock")
      #expect(try await machine.sh("systemctl show sdkd -P StatusText").output == "\n")
    }
  }

  @Test("A removed socket file is noticed, and doctor names the command that brings it back")
  func aRemovedSocketFileIsNoticed() async throws {
    try await Machine.with { machine in
      try await machine.sh("rm /run/sdkd/sdkd.sock")
      let said = try await machine.journal("-u sdkd.service -o cat") { $0.contains("new clients can't connect") }
      #expect(said.contains("/run/sdkd/sdkd.sock, was removed or replaced"), "\(said)")
      #expect(said.contains("systemctl restart sdkd.socket"), "\(said)")
      let doctor = try await machine.run(["sdkctl", "doctor"], within: 60)
      #expect(doctor.status == 1 && doctor.output.contains("→ systemctl restart sdkd.socket"), "\(doctor)")
      try await machine.sh("systemctl restart sdkd.socket")
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
    }
  }

  @Test func byHandAStaleSocketIsReplacedAndALivingOneIsNot() async throws {
    try await Machine.with { machine in
      try await machine.sh("useradd --create-home alice")
      let run = "systemd-run --quiet --uid=alice -p Type=notify"
      let daemon = "/usr/bin/sdkd --config /home/alice/c --socket /home/alice/s --state /home/alice"
      let ask = "runuser -u alice -- sdkctl --socket /home/alice/s list -o json"
      try await machine.sh("\(run) --unit=first \(daemon)/one; \(ask)")
      let second = try await machine.run(["bash", "-c", "\(run) --wait --unit=second \(daemon)/two"])
      #expect(second.status != 0)
      // By its identifier: the journal does not always know the unit of a process that has ended so soon.
      let said = try await machine.journal("-t sdkd -o cat") { $0.contains("Another daemon") }
      #expect(said.contains("Another daemon answers on /home/alice/s"))
      #expect(try await machine.sh("systemctl show second -P ExecMainStatus").output == "75\n")
      #expect(try await machine.sh(ask).output == "[]\n")
      // A daemon that was killed leaves its socket behind.
      try await machine.sh("systemctl kill --signal=KILL first; systemctl reset-failed first; test -S /home/alice/s")
      try await machine.sh("\(run) --unit=third \(daemon)/one")
      #expect(try await machine.sh(ask).output == "[]\n")
    }
  }
}
