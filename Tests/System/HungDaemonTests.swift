import Testing

/// `sdkctl` on a machine whose daemon crashes or whose socket is served by another user.
@Suite struct HungDaemonTests {
  @Test("The doctor reports the unit's state and restarts while the daemon crashes, and a token ends in time")
  func crashLoop() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        mkdir -p /run/systemd/system/sdkd.service.d
        printf '[Service]\\nExecStart=\\nExecStart=/bin/false\\n' > /run/systemd/system/sdkd.service.d/crash.conf
        systemctl daemon-reload
        systemctl restart --no-block sdkd.service
        """)
      try await machine.eventually("systemd has restarted it", "test $(systemctl show -P NRestarts sdkd.service) -ge 2")
      let doctor = try await machine.run(["sdkctl", "--system", "doctor"], within: 60)
      #expect(doctor.status == 1, "\(doctor)")
      #expect(doctor.output.contains("has not answered in 3 s."), "\(doctor)")
      #expect(doctor.output.contains("sdkd.service is ") && doctor.output.contains("restart"), "\(doctor)")
      let token = try await machine.run(["sdkctl", "--system", "token", "desk", "--timeout", "1s"], within: 60)
      #expect(token.status == 75, "\(token)")
    }
  }

  @Test("A socket that systemd passes to another user's service is not trusted as root's")
  func foreignService() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        useradd mallory
        printf '[Socket]\\nListenStream=/run/foreign.sock\\nSocketMode=0666\\nAccept=yes\\n' \\
          > /run/systemd/system/foreign.socket
        printf '[Service]\\nUser=mallory\\nStandardInput=socket\\nStandardOutput=file:/run/seen\\nExecStart=/bin/cat\\n' \\
          > /run/systemd/system/foreign@.service
        install -m 666 /dev/null /run/seen
        systemctl daemon-reload
        systemctl start foreign.socket
        """)
      let run = try await machine.run(
        ["sdkctl", "--socket", "/run/foreign.sock", "login", "desk", "--timeout", "3s"], input: "s3cret")
      #expect(run.status == 4, "\(run)")
      #expect(try await machine.sh("cat /run/seen").output == "")
      #expect(
        try await machine.run(["sdkctl", "--system", "status"]).status == 0, "the daemon's own socket is trusted")
    }
  }
}
