import Foundation
import JSONRPC
import Testing

/// Root keys in systemd credentials, created by `sdkctl` with the real `systemd-creds`.
@Suite struct KeyTests {
  @Test func theRootKeyBecomesACredentialAndIsReplaced() async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      let recovery = try await Self.initialise(machine)
      #expect(try await machine.draft(of: "desk") == "of desk")
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      #expect(try await machine.run(["test", "-e", "/var/lib/sdkd/root.key"]).status == 1)
      let mode = try await machine.sh("stat -c '%a %U' /etc/credstore.encrypted/sdkd.key").output
      #expect(mode == "600 root\n")
      let again = try await machine.run(["sdkctl", "key", "init"])
      #expect(again.status == 1 && again.error.contains("already"))
      #expect(try await machine.sh("sdkctl key rotate --template '{rewrapped}'").output == "1\n")

      // A new root key is prepared, put into force by a restart, and then becomes the only one.
      let next = try await machine.sh("sdkctl key rotate --outer --template '{recoveryKey}'").output
      #expect(next != recovery)
      let early = try await machine.run(["sdkctl", "key", "rotate", "--finish"])
      #expect(early.status == 1 && early.error.contains("restart"))
      try await machine.sh("systemctl restart sdkd.service")
      #expect(try await machine.health("key")["detail"]?.stringValue?.hasPrefix("sdkd.key.next") == true)
      try await machine.sh("sdkctl key rotate --finish; systemctl restart sdkd.service")
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      #expect(try await machine.draft(of: "desk") == "of desk")
      #expect(try await machine.sh("ls /etc/credstore.encrypted").output == "sdkd.key\n")

      // The credential is lost. Only its own recovery key restores it; a new key and the former recovery key are
      // refused.
      try await machine.sh("systemctl stop sdkd.socket sdkd.service; rm /etc/credstore.encrypted/sdkd.key")
      try await machine.sh("! sdkctl key init && ! sdkctl key init --recovery", input: recovery)
      try await machine.sh("test ! -e /etc/credstore.encrypted/sdkd.key; sdkctl key init --recovery", input: next)
      try await machine.sh("systemctl restart sdkd.socket sdkd.service")
      #expect(try await machine.health()["status"] == "ok")
      #expect(try await machine.draft(of: "desk") == "of desk")
      for secret in [recovery, next] {
        let text = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        let journal = try await machine.sh("journalctl --sync; journalctl -o export --no-pager").output
        #expect(!journal.contains(text) && text.count == 69)
      }
    }
  }

  /// Creates the root key, restarts the daemon and returns the recovery key.
  private static func initialise(_ machine: Machine) async throws -> String {
    let made = try await machine.sh("sdkctl key init --template '{recoveryKey}'")
    try await machine.sh("systemctl restart sdkd.service")
    return made.output
  }

  @Test func aMissingOrAnotherCredentialChangesNothing() async throws {
    try await Machine.with { machine in
      _ = try await Self.initialise(machine)
      try await machine.createInstance("desk")
      try await machine.sh("sdkctl backup copy; systemctl stop sdkd.socket sdkd.service")
      let before = try await machine.stateDigests()
      #expect(before.contains("state.db") && before.contains("backups/copy.db"))
      let folder = "/etc/credstore.encrypted"
      try await machine.sh("mv \(folder)/sdkd.key /root/kept")
      let other = "head -c 32 /dev/urandom | systemd-creds encrypt --with-key=host --name=sdkd.key - \(folder)/sdkd.key"
      for script in ["true", other] {
        try await machine.sh("\(script); systemctl start sdkd.socket sdkd.service")
        #expect(try await machine.failure("instance.list")["reason"] == "keyMissing")
        #expect(try await machine.health()["status"] == "failing")
        let status = try await machine.sh("systemctl show -P StatusText sdkd.service").output
        #expect(status.contains("degraded") && status.contains("root key"))
        let said = try await machine.journal("-u sdkd.service -p crit -o cat") { $0.contains("root key") }
        #expect(said.contains("root key"))
        try await machine.sh("systemctl stop sdkd.socket sdkd.service")
        #expect(try await machine.stateDigests() == before)
      }
      // The state opens again when the key is back.
      try await machine.sh("mv /root/kept \(folder)/sdkd.key; systemctl start sdkd.socket sdkd.service")
      #expect(try await machine.draft(of: "desk") == "of desk")
      #expect(try await machine.health()["status"] == "ok")
    }
  }

  @Test func aKillHalfwayHarmsNothing() async throws {
    try await Machine.with { machine in
      _ = try await Self.initialise(machine)
      for number in 0..<5 { try await machine.createInstance("desk-\(number)") }
      try await machine.sh("sdkctl backup copy")
      for round in 0..<6 {
        // The master key is rotated in a loop while the daemon is killed.
        try await machine.sh(
          """
          (while :; do sdkctl key rotate || true; done) >/dev/null 2>&1 &
          sleep 0.$((RANDOM % 900 + 100))
          systemctl kill -s KILL sdkd.service
          kill $!
          wait || true
          """)
        try await machine.eventually("the daemon is back", "sdkctl status")
        // Prepare a new root key. The daemon adopts it when it starts after the next kill.
        if round == 2 { try await machine.sh("sdkctl key rotate --outer") }
        for number in 0..<5 {
          let draft = try await machine.draft(of: "desk-\(number)")
          #expect(draft == "of desk-\(number)")
        }
        #expect(try await machine.health()["status"] == "ok")
      }
      try await machine.sh("systemctl restart sdkd.service; sdkctl key rotate --finish; systemctl restart sdkd.service")
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      #expect(try await machine.draft(of: "desk-4") == "of desk-4")
    }
  }
}
