import Foundation
import Testing

/// The Ansible role, run with Debian's Ansible on two booted machines through OpenSSH.
@Suite struct AnsibleTests {
  @Test("Ansible sets machines up after a run that broke off, changes nothing twice or on a mistake, and upgrades")
  func theRole() async throws {
    try await Machine.with { first in
      try await Machine.with { second in
        try await Self.useRole(on: Kiosks(["kiosk-1": first, "kiosk-2": second]))
      }
    }
  }

  private static func useRole(on kiosks: Kiosks) async throws {
    let (former, present) = try await packages(for: kiosks)
    try await kiosks.all("dpkg --purge webext-sdkd sdkd >/dev/null 2>&1; useradd --system kiosk")
    for machine in kiosks.machines.values { try await machine.startSandbox() }

    // A check of bare machines reaches its end and changes nothing.
    let checked = try await kiosks.play(former, ["--check", "--diff"])
    #expect(checked.status == 0, "\(checked)")
    #expect(
      try await kiosks.all("ls -d /etc/sdkd /usr/bin/sdkd /etc/systemd/system/sdkd-* 2>/dev/null || true") == ["", ""])

    // The recovery key of one machine can't be written, because a folder has its name. The run ends for both machines.
    let blocked = kiosks.folder.url.appendingPathComponent("recovery/kiosk-2")
    try FileManager.default.createDirectory(at: blocked, withIntermediateDirectories: true)
    let brokenOff = try await kiosks.play(former)
    #expect(brokenOff.status == 2 && brokenOff.text.contains("Write the recovery key"), "\(brokenOff)")
    try FileManager.default.removeItem(at: blocked)

    // The next run continues, and loses no recovery key.
    let done = try await kiosks.play(former)
    #expect(done.status == 0 && done.changes.allSatisfy { $0 > 0 }, "\(done)")
    let state = try await kiosks.all(
      """
      sdkctl list --no-headers | awk '{ print $1, $3 }'
      sdkctl status | sed -n 's/^ *key *//p'
      grep -rl '\(Kiosks.secret)' /etc /root /tmp /var/tmp || true
      ls /run/sdkd.recovery-key 2>/dev/null || true
      """)
    #expect(state == Array(repeating: "front-desk noUser\nsdkd.key\n", count: 2))
    for (name, machine) in kiosks.machines {
      let key = try kiosks.recoveryKey(of: name)
      // Without its credential the machine starts only with this key.
      try await machine.sh("systemctl stop sdkd.socket sdkd.service; rm /etc/credstore.encrypted/sdkd.key")
      try await machine.sh("sdkctl key init --system --recovery; systemctl start sdkd.socket sdkd.service", input: key)
      try await machine.sh("sdk-sandbox mint --external-id alice --ttl 600 | sdkctl login front-desk")
      #expect(try await machine.sh("sdkctl refresh front-desk --template '{tokenType}'").output == "jwt\n")
    }

    let again = try await kiosks.play(former)
    #expect(again.status == 0 && again.changes == [0, 0], "\(again)")

    // A mistake in a file changes nothing, and a check of a change neither. A difference does not show what may be secret.
    let files = "find /etc/sdkd /etc/systemd/system /etc/credstore.encrypted -type f | sort | xargs sha256sum"
    let before = try await kiosks.all(files)
    let mistaken = try await kiosks.play(former, changing: "app_id", to: "one\"")
    #expect(mistaken.status == 2 && mistaken.text.contains("front-desk.toml"), "\(mistaken)")
    let other = "6f0000000000000000000001"
    let seen = try await kiosks.play(former, ["--check", "--diff"], changing: "app_id", to: other)
    #expect(seen.status == 0 && seen.changes == [1, 1] && !seen.text.contains(other), "\(seen)")
    #expect(try await kiosks.all(files) == before)

    // A new secret of the token provider is used at once.
    let renewed = try await kiosks.play(former, changing: "backend_key", to: "another")
    #expect(renewed.status == 0 && renewed.changes == [1, 1], "\(renewed)")
    let refused = try await kiosks.all("sdkctl refresh front-desk 2>&1 || true")
    #expect(refused.allSatisfy { $0.contains("(providerFailed)") }, "\(refused)")

    let upgraded = try await kiosks.play(present)
    #expect(upgraded.status == 0 && upgraded.changes.allSatisfy { $0 > 0 }, "\(upgraded)")
    let after = try await kiosks.all(
      "dpkg-query -W -f '${Version}\\n' sdkd; sdkctl refresh front-desk >/dev/null; sdkctl list --no-headers | awk '{ print $3, $4 }'"
    )
    #expect(after.allSatisfy { !$0.hasPrefix("0.0.9") && $0.hasSuffix("authenticated alice\n") }, "\(after)")
  }

  /// Returns the paths of the package with a lower version, in place of a former release, and of the package itself.
  private static func packages(for kiosks: Kiosks) async throws -> (former: String, present: String) {
    let folder = kiosks.folder.url.path
    let made = try await Machine.run([
      "bash", "-euc",
      """
      dpkg-deb --raw-extract \(MachineRoot.path)/opt/packages/sdkd_*.deb \(folder)/former
      sed -i 's/^Version: .*/Version: 0.0.9/' \(folder)/former/DEBIAN/control
      dpkg-deb -Znone --build \(folder)/former \(folder)/former.deb >/dev/null
      ln -s \(MachineRoot.path)/opt/packages/sdkd_*.deb \(folder)/present.deb
      """,
    ])
    guard made.status == 0 else { throw Machine.Failure(description: made.error) }
    return ("\(folder)/former.deb", "\(folder)/present.deb")
  }
}
