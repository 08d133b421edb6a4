import Foundation
import JSONRPC
import Testing

/// Credentials of the units that are damaged, lost or another machine's.
@Suite struct CredentialTests {
  /// A root key that can't be used any more.
  struct Cause: CustomTestStringConvertible {
    let name: String
    /// A script that damages `$file`, the encrypted credential, or `$state`, the folder of the state.
    let script: String
    /// A part of the message that callers get.
    let says: String

    var testDescription: String { name }
  }

  private static let secret = "/var/lib/systemd/credential.secret"
  private static let encrypt = "systemd-creds encrypt --with-key=host --name=sdkd.key"

  static let causes: [Cause] = [
    Cause(name: "junk", script: "head -c 300 /dev/urandom > $file", says: "can't be decrypted"),
    Cause(name: "text", script: "echo junk > $file", says: "can't be decrypted"),
    Cause(name: "empty", script: ": > $file", says: "can't be decrypted"),
    Cause(name: "truncated", script: "truncate -s 100 $file", says: "can't be decrypted"),
    Cause(
      name: "another name",
      script: """
        systemd-creds decrypt --name=sdkd.key $file - \
          | systemd-creds encrypt --with-key=host --name=another - $file.other
        mv $file.other $file
        """, says: "can't be decrypted"),
    Cause(
      name: "another length",
      script: "head -c 16 /dev/urandom | \(encrypt) - $file.other; mv $file.other $file",
      says: "does not have 32 bytes"),
    Cause(
      name: "another key",
      script: "head -c 32 /dev/urandom | \(encrypt) - $file.other; mv $file.other $file",
      says: "is not the one"),
    Cause(name: "the machine's secret lost", script: "rm \(secret)", says: "can't be decrypted"),
    Cause(
      name: "another machine's secret", script: "rm \(secret); systemd-creds setup > /dev/null",
      says: "can't be decrypted"),
    Cause(name: "a folder", script: "rm $file; mkdir $file", says: "can't be decrypted"),
    Cause(
      name: "restored on a machine with a root.key of its own",
      script: """
        rm $file
        head -c 32 /dev/urandom > $state/root.key
        chown --reference=$state/ $state/root.key; chmod 600 $state/root.key
        """, says: "is not the one"),
    Cause(name: "absent", script: "rm $file", says: "needs its root key"),
  ]

  /// The daemon of the system or of a tenant.
  struct Daemon: CustomTestStringConvertible {
    let unit: String
    let sdkctl: String
    let state: String

    var testDescription: String { unit }
  }

  static let daemons = [
    Daemon(unit: "sdkd", sdkctl: "sdkctl", state: "/var/lib/sdkd"),
    Daemon(unit: "sdkd@acme", sdkctl: "sdkctl --tenant acme", state: "/var/lib/private/sdkd-tenants/acme"),
  ]

  @Test(
    "The daemon starts without a usable root key, says keyMissing, and works after the command that doctor names",
    arguments: daemons)
  func unusableRootKeys(daemon: Daemon) async throws {
    let (unit, sdkctl) = ("\(daemon.unit).service", daemon.sdkctl)
    try await Machine.with { machine in
      try await machine.sh("systemctl start \(daemon.unit).socket")
      try await machine.sh(
        """
        \(sdkctl) create desk \(Machine.settings) > /dev/null
        \(sdkctl) key init --template '{recoveryKey}' > /root/recovery-key
        systemctl restart \(unit)
        \(sdkctl) list > /dev/null
        """)
      for cause in Self.causes {
        let file = "/etc/credstore.encrypted/\(daemon.unit).key"
        try await machine.sh("file=\(file) state=\(daemon.state)\n\(cause.script)\nsystemctl restart \(unit)")
        // It runs, and no caller waits for it.
        let state = try await machine.sh("systemctl show \(unit) -P ActiveState -P NRestarts").output
        #expect(state == "active\n0\n" || state == "0\nactive\n", "\(cause.name): \(state)")
        let list = try await machine.run(["sh", "-c", "\(sdkctl) list --timeout 20s"])
        #expect(list.status == 1 && list.error.contains("(keyMissing)"), "\(cause.name): \(list.error)")
        #expect(list.error.contains(cause.says), "\(cause.name): \(list.error)")
        let status = try await machine.run(["sh", "-c", "\(sdkctl) status"])
        let command = "\(sdkctl) key init --recovery"
        #expect(list.error.contains(command), "\(cause.name): \(list.error)")
        #expect(status.error.contains(command), "\(cause.name): \(status.error)")
        let advice = try await Self.advice(machine, sdkctl)
        #expect(advice.hasPrefix("\(command),"), "\(cause.name): \(advice)")
        #expect(advice.hasSuffix("; then systemctl restart \(unit)"), "\(cause.name): \(advice)")
        // As an operator would type it; a folder in the place of the file is removed by hand.
        try await machine.sh(
          """
          [ ! -d \(file) ] || rmdir \(file)
          \(command) < /root/recovery-key
          systemctl restart \(unit)
          \(sdkctl) show desk > /dev/null
          """)
        #expect(try await Self.advice(machine, sdkctl) == "", "\(cause.name)")
        let left = try await machine.sh(
          "systemctl start \(unit); ls -A /run/credstore; systemctl is-failed sdkd-key@\(unit) || true"
        ).output
        #expect(left == "inactive\n", "\(cause.name): \(left)")
      }
    }
  }

  /// Returns the advice of doctor about the key; empty when the key is good.
  private static func advice(_ machine: Machine, _ sdkctl: String) async throws -> String {
    let doctor = try await machine.run(["sh", "-c", "\(sdkctl) doctor -o json"])
    let findings = try JSONParser.parse(doctor.output).arrayValue ?? []
    let key = try #require(findings.first { $0["check"] == "key" }, "\(doctor.output)\(doctor.error)")
    return key["status"] == "ok" ? "" : key["advice"]?.stringValue ?? "none"
  }

  @Test("No decrypted key stays behind a start that systemd refuses")
  func keyOfARefusedStart() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        sdkctl key init > /dev/null
        mkdir -p /etc/systemd/system/sdkd.service.d
        printf '[Unit]\\nStartLimitBurst=2\\n[Service]\\nRestartSec=100ms\\nExecStart=\\nExecStart=/bin/false\\n' \\
          > /etc/systemd/system/sdkd.service.d/loop.conf
        systemctl daemon-reload; systemctl restart sdkd.service || true
        """)
      try await machine.eventually(
        "the service has failed", "test $(systemctl show sdkd.service -P ActiveState) = failed")
      try await machine.eventually(
        "the key is removed",
        "systemctl is-active -q sdkd-failed@sdkd.service && exit 1; test -z \"$(ls -A /run/credstore)\"")
      #expect(try await machine.run(["systemctl", "start", "sdkd.service"]).status != 0)
      try await machine.eventually("the key is removed again", "test -z \"$(ls -A /run/credstore)\"")
    }
  }

  @Test("A damaged key that was prepared for a rotation does no harm, and the advice of doctor removes it")
  func damagedNextKey() async throws {
    try await Machine.with { machine in
      let folder = "/etc/credstore.encrypted"
      try await machine.createInstance("desk")
      try await machine.sh("sdkctl key init; systemctl restart sdkd.service; sdkctl key rotate --outer")
      // The key that was to replace the other one is damaged before, then after the daemon has taken it over.
      try await machine.sh("echo junk > \(folder)/sdkd.key.next; systemctl restart sdkd.service")
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      #expect(try await machine.draft(of: "desk") == "of desk")
      let removal = try await Self.advice(machine, "sdkctl")
      #expect(removal == "rm \(folder)/sdkd.key.next; systemctl restart sdkd.service")
      try await machine.sh(removal)
      #expect(try await Self.advice(machine, "sdkctl") == "")

      try await machine.sh("sdkctl key rotate --outer; systemctl restart sdkd; echo junk > \(folder)/sdkd.key")
      #expect(try await machine.draft(of: "desk") == "of desk")
      let finish = try await Self.advice(machine, "sdkctl")
      #expect(finish == "systemctl restart sdkd.service, then sdkctl key rotate --finish")
      try await machine.sh(finish.replacing(", then", with: ";") + "; systemctl restart sdkd")
      #expect(try await Self.advice(machine, "sdkctl") == "")
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }

  @Test(
    "A root key may come from a drop-in, plain or encrypted",
    arguments: ["LoadCredential=sdkd.key:/srv/plain", "LoadCredentialEncrypted=sdkd.key:/srv/encrypted"])
  func keyOfADropIn(line: String) async throws {
    try await Machine.with { machine in
      try await machine.createInstance("desk")
      try await machine.sh(
        """
        umask 077
        head -c 32 /dev/urandom > /srv/plain
        systemd-creds encrypt --with-key=host --name=sdkd.key /srv/plain /srv/encrypted
        mkdir -p /etc/systemd/system/sdkd.service.d
        printf '[Service]\\n\(line)\\n' > /etc/systemd/system/sdkd.service.d/key.conf
        systemctl daemon-reload
        systemctl restart sdkd.service
        test ! -e /var/lib/sdkd/root.key
        """)
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }

  @Test("A credential of a drop-in that can't be loaded fails the unit at once, and doctor says which setting it is")
  func credentialOfADropIn() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        mkdir -p /etc/systemd/system/sdkd.service.d
        printf '[Service]\\nLoadCredential=proxy:/etc/sdkd/proxy\\n' > /etc/systemd/system/sdkd.service.d/proxy.conf
        systemctl daemon-reload
        ! systemctl restart sdkd.service
        """)
      let status = try await machine.sh("systemctl show sdkd.service -P ExecMainStatus -P NRestarts").output
      #expect(Set(status.split(separator: "\n")) == ["243", "0"], "\(status)")
      let doctor = try await machine.run(["sdkctl", "--system", "doctor", "-o", "json"])
      let findings = try JSONParser.parse(doctor.output).arrayValue ?? []
      let unit = try #require(findings.first { $0["check"] == "unit" }, "\(doctor)")
      #expect(unit["message"]?.stringValue?.contains("can't load a credential that a drop-in names") == true, "\(unit)")
      let advice = try #require(unit["advice"]?.stringValue)
      #expect(advice.hasPrefix("find it: systemctl cat sdkd.service | grep LoadCredential; correct it; "), "\(advice)")
      let found = try await machine.sh("systemctl cat sdkd.service | grep LoadCredential").output
      #expect(found.contains("proxy:/etc/sdkd/proxy"), "\(found)")
      try await machine.sh(
        "echo user:word > /etc/sdkd/proxy; \(advice.split(separator: "correct it; ").last ?? "false")")
      #expect(try await machine.health()["status"] == "ok")
    }
  }
}
