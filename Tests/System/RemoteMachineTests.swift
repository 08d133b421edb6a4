import Testing

/// `sdkctl --host` into booted machines, through OpenSSH's client and server.
@Suite struct RemoteMachineTests {
  @Test("A user signs in on another machine; a file stays on this one; a host that can't be reached gives 255")
  func remoteDaemon() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.sh("sdkctl create desk \(Machine.settings)")
      let ssh = try await SSHFolder(["kiosk-7": machine])
      func sdkctl(_ words: [String], input: String = "") async throws -> Machine.Ended {
        try await Machine.run(["\(MachineRoot.programs)/sdkctl"] + words, environment: ssh.environment, input: input)
      }
      let jwt = try await machine.sh("sdk-sandbox mint --external-id alice").output
      let login = try await sdkctl(["-H", "kiosk-7", "login", "desk"], input: jwt)
      #expect(login.status == 0, "\(login.error)")
      #expect(try await sdkctl(["-H", "kiosk-7", "token", "desk"]).output == jwt)
      // The file is one of this machine: the other has none of that name.
      let draft = try ssh.write("draft", "of desk")
      let put = try await sdkctl(["-H", "kiosk-7", "storage", "put", "desk", "draft", "--text", "--file", draft])
      #expect(put.status == 0, "\(put.error)")
      #expect(try await machine.draft(of: "desk") == "of desk")
      let gone = try await sdkctl(["-H", "gone", "list"])
      #expect(gone.status == 255 && !gone.error.isEmpty && !gone.error.contains("sdkctl:"), "\(gone.error)")
      // Without the package the other machine's shell says so.
      try await machine.sh("dpkg --purge webext-sdkd sdkd")
      let missing = try await sdkctl(["-H", "kiosk-7", "list"])
      #expect(missing.status == 127 && missing.error.contains("sdkctl"), "\(missing.status) \(missing.error)")
    }
  }
}
