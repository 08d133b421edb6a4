import Testing

/// `/etc/sdkd/browser.json` of the installed package, which browsers read as their own user.
@Suite struct BrowserListTests {
  /// A command that gives the host its page's origin, as the user of the browser, and prints the answer without its length.
  private static let host =
    #"printf '\042\0\0\0{"origin":"https://kiosk.example"}' | runuser -u kiosk -- /usr/libexec/sdkd-browser-host"#
    + " | tail -c +5"

  private static let check = ["runuser", "-u", "kiosk", "--", "sdkctl", "browser", "check", "-o", "json"]

  /// Sets the kiosk of the guide up: its user, its instance, whose rule names its unit, and the packaged list.
  private func setUp(_ machine: Machine) async throws {
    try await machine.sh(
      """
      useradd kiosk
      sdkctl create front-desk \(Machine.settings) --access-control unit:kiosk.service+user:kiosk > /dev/null
      install -m 644 /usr/share/doc/sdkd/examples/browser/browser.json /etc/sdkd/browser.json
      sdkctl browser write > /dev/null
      """)
  }

  @Test("The user of a browser reads the list, and nothing of the daemon's own configuration")
  func theListCanBeRead() async throws {
    try await Machine.with { machine in
      try await setUp(machine)
      let checked = try await machine.run(Self.check)
      #expect(checked.output.contains("/etc/sdkd/browser.json lists https://kiosk.example."), "\(checked)")
      let opened = try await machine.run(["bash", "-c", Self.host])
      #expect(opened.output.contains(#"{"sdkd":"open"}"#), "\(opened)")
      for command in [
        ["cat", "/etc/sdkd/sdkd.toml"], ["ls", "/etc/sdkd"], ["ls", "/etc/sdkd/instances.d"],
        ["ls", "/etc/sdkd/sdkd.toml.d"],
      ] {
        let ended = try await machine.run(["runuser", "-u", "kiosk", "--"] + command)
        #expect(ended.status != 0 && ended.error.contains("Permission denied"), "\(command): \(ended)")
      }
      #expect(try await machine.run(["sdkctl", "browser", "check"]).status == 0)
    }
  }

  @Test("A closed folder is named, with the command that opens it, by the check and by the host")
  func theFolderIsClosed() async throws {
    try await Machine.with { machine in
      try await setUp(machine)
      try await machine.sh("chmod 750 /etc/sdkd")
      let checked = try await machine.run(Self.check)
      #expect(checked.status == 1 && checked.error.contains("kiosk may not enter the folder /etc/sdkd."), "\(checked)")
      #expect(checked.error.contains("chmod o+x /etc/sdkd"), "\(checked)")
      let refused = try await machine.run(["bash", "-c", Self.host])
      #expect(refused.output.contains("invalidConfiguration") && refused.output.contains("/etc/sdkd."), "\(refused)")
      #expect(refused.error.contains("hint: chmod o+x /etc/sdkd\n"), "\(refused)")
      let byRoot = try await machine.run(["sdkctl", "browser", "check", "-o", "json"])
      #expect(byRoot.status == 0 && byRoot.output.contains("others may not enter the folder /etc/sdkd."), "\(byRoot)")
      try await machine.sh("chmod o+x /etc/sdkd")
      let opened = try await machine.run(["bash", "-c", Self.host])
      #expect(opened.output.contains(#"{"sdkd":"open"}"#), "\(opened)")
    }
  }

  @Test("The check in the unit of a browser sees what the rule for this unit gives")
  func theCheckInAUnit() async throws {
    try await Machine.with { machine in
      try await setUp(machine)
      let outside = try await machine.run(Self.check)
      #expect(outside.status == 1 && outside.output.contains("There is no instance front-desk for you"), "\(outside)")
      #expect(outside.output.contains("ExecStartPre=-sdkctl browser check"), "\(outside)")
      try await machine.sh(
        "cat > /etc/systemd/system/kiosk.service",
        input: """
          [Service]
          Type=oneshot
          User=kiosk
          RuntimeDirectory=kiosk
          Environment=HOME=/run/kiosk
          ExecStartPre=sdkctl browser check
          ExecStart=true

          """)
      let started = try await machine.run(["bash", "-c", "systemctl daemon-reload; systemctl start kiosk.service"])
      let journal = try await machine.sh("journalctl --sync; journalctl -u kiosk.service -o cat").output
      #expect(started.status == 0 && journal.contains("It has all listed instances and methods."), "\(journal)")
    }
  }
}
