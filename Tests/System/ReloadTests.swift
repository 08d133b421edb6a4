import JSONRPC
import Testing

/// `systemctl reload`, and configurations with mistakes, on a booted system.
@Suite struct ReloadTests {
  /// Returns a script that writes the file of an instance as an administrator would. The sandbox need not run.
  private static func file(_ id: String, _ more: String = "") -> String {
    """
    cat > /etc/sdkd/instances.d/\(id).toml <<'END'
    id = "\(id)"
    kind = "zendesk.messaging"
    \(more)
    [settings]
    base_url = "http://127.0.0.1:8787/zm"
    app_id = "5f0000000000000000000001"
    END
    chown root:sdkd /etc/sdkd/instances.d/\(id).toml

    """
  }

  @Test func reloadIsSynchronousAndFailsWithABadConfiguration() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.sh(Self.file("front") + "systemctl reload sdkd.service")
      // A reload is synchronous: the new files are in force when the command has returned.
      try await machine.sh("sdk-sandbox mint --external-id alice | sdkctl login front > /dev/null")
      let token = try await machine.sh("sdkctl token front").output
      let pid = try await machine.sh("systemctl show -P MainPID sdkd.service").output

      let bad = "echo '[limits]' > /etc/sdkd/sdkd.toml; echo 'calls_per_secnd = 3' >> /etc/sdkd/sdkd.toml\n"
      try await machine.sh(bad + Self.file("front", "labels = { floor = \"2\" }") + Self.file("second"))
      let failed = try await machine.run(["systemctl", "reload", "sdkd.service"])
      #expect(failed.status != 0)
      let mistake = "/etc/sdkd/sdkd.toml:2: limits.calls_per_secnd: "
      let journal = try await machine.journal("-u sdkd.service -o cat") {
        $0.contains("hint: \(mistake)") && $0.contains("\n\(mistake)")
      }
      #expect(journal.contains("hint: \(mistake)"), "what sdkctl says")
      #expect(journal.contains("\n\(mistake)"), "what the daemon says")
      let status = try await machine.sh("systemctl show -P StatusText sdkd.service").output
      #expect(status.hasPrefix("degraded: ") && status.contains(mistake), "\(status)")
      #expect(status.contains("the last good configuration stays in force"), "\(status)")
      #expect(try await machine.sh("sdkctl list -o jsonl | wc -l").output == "1\n")

      try await machine.sh("echo > /etc/sdkd/sdkd.toml; systemctl reload sdkd.service")
      let list = try await machine.sh("sdkctl list -o jsonl").output
      #expect(list.contains("\"second\"") && list.contains("\"floor\""))
      try await machine.sh("rm /etc/sdkd/instances.d/second.toml; systemctl reload sdkd.service")
      #expect(try await machine.sh("sdkctl list -o jsonl | wc -l").output == "1\n")
      #expect(try await machine.sh("sdkctl token front").output == token)
      #expect(try await machine.sh("systemctl show -P MainPID sdkd.service").output == pid)
    }
  }

  @Test func secretsThatOthersCanReadAreRefused() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        cat > /etc/sdkd/instances.d/service.toml <<'END'
        id = "service"
        kind = "salesforce.chat"
        [settings]
        client_id = "3MVG9sandbox.demo"
        client_secret = "not-for-everybody"
        END
        chmod 644 /etc/sdkd/instances.d/service.toml
        """)
      #expect(try await machine.run(["systemctl", "reload", "sdkd.service"]).status != 0)
      let journal = try await machine.journal("-u sdkd.service -o cat") { $0.contains("chmod 600") }
      #expect(journal.contains("service.toml:5: settings.client_secret: ") && journal.contains("chmod 600"))
      #expect(!journal.contains("not-for-everybody"))
      try await machine.sh(
        "cd /etc/sdkd/instances.d; chown root:sdkd service.toml; chmod 640 service.toml; systemctl reload sdkd.service")
      #expect(try await machine.sh("sdkctl show service -o json").output.contains("redacted"))
    }
  }

  @Test func aConfigurationWithTenMistakesIsExplainedAndHealedByAReload() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        touch /etc/sdkd/sdkd.toml; cp /etc/sdkd/sdkd.toml /root/good.toml
        cat > /etc/sdkd/sdkd.toml <<'END'
        [acess]
        admins = []
        [limits]
        max_in_fligth = 3
        connections = "many"
        calls_per_second = 0
        [events]
        retention = { age = "7d", cuont = 5 }
        [log]
        level = "loud"
        [metrics]
        listen = "0.0.0.0:9464"
        [bridge]
        allow = ["libexec"]
        END
        printf 'id = "Front!"\\nkind = "zendesk.mesaging"\\n' > /etc/sdkd/instances.d/front.toml
        systemctl restart sdkd.service
        """)
      let expected = [
        "sdkd.toml:1: acess: ", "sdkd.toml:4: limits.max_in_fligth: ", "sdkd.toml:5: limits.connections: ",
        "sdkd.toml:6: limits.calls_per_second: ", "sdkd.toml:8: events.retention.cuont: ",
        "sdkd.toml:10: log.level: ", "sdkd.toml:12: metrics.listen: ", "sdkd.toml:14: bridge.allow[0]: ",
        "front.toml:1: id: ", "front.toml:2: kind: ",
      ]
      let nearest = ["did you mean access?", "max_in_flight?", "did you mean count?", "zendesk.messaging?"]
      let status = try await machine.output("systemctl status --no-pager --full --lines=30 sdkd.service") { text in
        expected.allSatisfy(text.contains)
      }
      #expect(status.contains("active (running)"))
      let text = try await machine.sh("systemctl show -P StatusText sdkd.service").output
      let mistake = try await machine.messageID("An error in the configuration")
      let journal = try await machine.journal("-o cat MESSAGE_ID=\(mistake)") { $0.split(separator: "\n").count >= 10 }
      for words in expected + nearest {
        #expect(status.contains(words) && text.contains(words) && journal.contains(words), "\(words): \(text)")
      }
      #expect(journal.split(separator: "\n").count == 10)
      let refused = try await machine.run(["sdkctl", "list"])
      #expect(
        refused.status == 1 && refused.error.contains("10 mistakes") && refused.error.contains("storeUnavailable"))
      #expect(try await machine.run(["sdkctl", "status"]).status == 1)
      #expect(try await machine.run(["systemctl", "reload", "sdkd.service"]).status != 0)
      let pid = try await machine.sh("systemctl show -P MainPID sdkd.service").output
      try await machine.sh(
        """
        cp /root/good.toml /etc/sdkd/sdkd.toml; rm /etc/sdkd/instances.d/front.toml
        systemctl reload sdkd.service
        """)
      #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
      #expect(try await machine.sh("systemctl show -P MainPID sdkd.service").output == pid)
      #expect(try await machine.sh("systemctl show -P StatusText sdkd.service").output.contains("0 instances"))
    }
  }
}
