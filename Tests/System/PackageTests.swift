import Foundation
import JSONRPC
import Subprocess
import SystemPackage
import Testing

/// The Debian packages, installed on a booted system.
@Suite struct PackageTests {
  /// A script that builds the same package with a lower version, in place of a former release.
  private static let former = formerPackage()

  /// Returns that script.
  ///
  /// - Parameter change: commands that change the tree of the package.
  static func formerPackage(changed change: String = "") -> String {
    """
    mkdir /tmp/former
    dpkg-deb --raw-extract /opt/packages/sdkd_*.deb /tmp/former/sdkd
    sed -i 's/^Version: .*/Version: 0.0.9/' /tmp/former/sdkd/DEBIAN/control
    (cd /tmp/former/sdkd; \(change.isEmpty ? ":" : change))
    dpkg-deb -Znone --build /tmp/former/sdkd /tmp/former/sdkd.deb >/dev/null

    """
  }

  @Test func socketAndServiceAreEnabledAndRun() async throws {
    try await Machine.with { machine in
      let states = try await machine.sh(
        "systemctl is-enabled sdkd.socket sdkd.service; systemctl is-active sdkd.socket")
      #expect(states.output == "enabled\nenabled\nactive\n")
      let list = try await machine.sh("sdkctl list -o json")
      #expect(list.output == "[]\n")
      let failed = try await machine.sh("systemctl list-units --failed --no-legend --plain")
      #expect(failed.output == "")
    }
  }

  @Test func everythingIsInItsPlace() async throws {
    try await Machine.with { machine in
      let rights = try await machine.sh(
        "stat -c '%U:%G %a %n' /etc/sdkd /etc/sdkd/sdkd.toml /etc/sdkd/instances.d /etc/sdkd/sdkd.toml.d /var/lib/sdkd /run/sdkd/sdkd.sock"
      )
      #expect(
        rights.output == """
          root:sdkd 751 /etc/sdkd
          root:sdkd 640 /etc/sdkd/sdkd.toml
          root:sdkd 750 /etc/sdkd/instances.d
          root:sdkd 750 /etc/sdkd/sdkd.toml.d
          sdkd:sdkd 700 /var/lib/sdkd
          root:root 666 /run/sdkd/sdkd.sock

          """)
      // The package's own configuration passes the check without a message.
      let checked = try await machine.run(["sdkd", "--check"])
      #expect(checked.status == 0 && checked.error == "")
      try await machine.sh(
        """
        test "$(sdkd --openrpc | sha256sum)" = "$(sha256sum </usr/share/sdkd/openrpc.json)"
        man -w 8 sdkd; man -w 1 sdkctl; man -w 5 sdkd.toml; man -w 7 sdkd-provider; man -w 7 sdkd-protocol; man -w 1 sdk-sandbox
        test -s /usr/share/sdkd/sdkd.rules.yml
        test -s /usr/share/bash-completion/completions/sdkctl
        test -s /usr/share/zsh/vendor-completions/_sdkctl
        test -s /usr/share/fish/vendor_completions.d/sdkctl.fish
        journalctl --list-catalog | grep sdkd >/dev/null
        test -x /usr/libexec/sdkd-provider
        """)
      // People copy the examples as the guides say, also the large ones.
      let compressed = try await machine.sh("find /usr/share/doc/sdkd/examples -name '*.gz'")
      #expect(compressed.output == "")
    }
  }

  @Test func onlyLibrariesOfDebianAreLinked() async throws {
    try await Machine.with { machine in
      let linked = try await machine.sh(
        "for p in sdkd sdkctl; do ldd /usr/bin/$p; done | awk '{ print $1 }' | sed 's|.*/||; s|\\.so.*||' | sort -u")
      let expected: Set = [
        "linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libgcc_s", "libsystemd",
        "libsqlite3", "libz",
      ]
      // The libraries that libsystemd itself depends on.
      let ofSystemd: Set = ["libcap", "libgcrypt", "libgpg-error", "liblz4", "liblzma", "libzstd"]
      let names = Set(linked.output.split(separator: "\n").map(String.init))
      #expect(names.subtracting(expected).subtracting(ofSystemd) == [])
    }
  }

  /// An upgrade from a former release while a client calls all the time: state and sign-ins are kept, no call fails.
  @Test func anUpgradeKeepsStateAndTurnsNobodyAway() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        Self.former + """
          dpkg --install /tmp/former/sdkd.deb >/dev/null
          dpkg-query -W -f '${Version}' sdkd | grep -qx 0.0.9
          systemd-run --quiet -u sandbox sdk-sandbox --port 8787
          sdkctl create desk --kind zendesk.messaging --setting base_url=http://127.0.0.1:8787/zm \
            --setting app_id=5f0000000000000000000001
          """)
      try await machine.eventually(
        "the sandbox lets alice in",
        """
        sdk-sandbox mint --external-id alice --ttl 3600 | sdkctl login desk
        """)
      let before = try await machine.sh("sdkctl token desk; systemctl show -P MainPID sdkd.service")
      try await machine.sh(
        """
        systemd-run --quiet -u asker bash -c \
          'while [ ! -e /tmp/enough ]; do sdkctl token desk >/dev/null || touch /tmp/refused; done'
        dpkg --install /opt/packages/sdkd_*.deb >/tmp/upgrade.log 2>&1
        sdkctl token desk >/dev/null
        touch /tmp/enough
        """)
      let after = try await machine.sh("sdkctl token desk; systemctl show -P MainPID sdkd.service")
      let (old, new) = (before.output.split(separator: "\n"), after.output.split(separator: "\n"))
      #expect(old[0] == new[0], "the token is the same")
      #expect(old[1] != new[1], "the service is another process")
      let refused = try await machine.run(["test", "-e", "/tmp/refused"])
      #expect(refused.status == 1, "nobody was turned away")
    }
  }

  @Test("An upgrade from a unit that decrypted the root key itself keeps the key")
  func anUpgradeKeepsTheRootKey() async throws {
    try await Machine.with { machine in
      let unit = "lib/systemd/system/sdkd.service"
      try await machine.sh(
        Self.formerPackage(
          changed: """
            rm lib/systemd/system/sdkd-key@.service
            sed -i '/^Wants=sdkd-key@/d; s/ sdkd-key@sdkd.service / /; /credstore/d' \(unit)
            sed -i 's/^LoadCredential=\\([^:]*\\):.*/LoadCredentialEncrypted=\\1/' \(unit)
            grep -c '^LoadCredentialEncrypted=sdkd.key' \(unit) | grep -qx 2
            """) + """
            dpkg --install /tmp/former/sdkd.deb >/dev/null
            sdkctl key init
            systemctl restart sdkd.service
            """)
      try await machine.createInstance("desk")
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      try await machine.sh("dpkg --install /opt/packages/sdkd_*.deb >/tmp/upgrade.log 2>&1")
      #expect(try await machine.sh("systemctl show sdkd.service -P Wants").output.contains("sdkd-key@sdkd.service"))
      #expect(try await machine.health("key")["detail"] == "sdkd.key")
      #expect(try await machine.draft(of: "desk") == "of desk")
      try await machine.sh("systemctl restart sdkd.service")
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }

  @Test("An upgrade leaves the socket open, so that no raw client is refused")
  func anUpgradeLeavesTheSocketOpen() async throws {
    try await Machine.with { machine in
      let client = """
        import collections, os, socket
        count = collections.Counter()
        while not os.path.exists("/tmp/enough"):
            line = socket.socket(socket.AF_UNIX)
            line.settimeout(60)
            try:
                line.connect("/run/sdkd/sdkd.sock")
            except OSError as error:
                count[error.strerror] += 1
                continue
            count["connected"] += 1
            try:
                line.sendall(b'{"jsonrpc":"2.0","id":1,"method":"daemon.info"}\\n')
                if line.recv(65536): count["answered"] += 1
            except OSError:
                pass
            line.close()
        for name in set(count) - {"connected", "answered"}: print(name, count[name])
        """
      try await machine.sh("cat > /tmp/client.py", input: client)
      try await machine.sh(Self.former + "dpkg --install /tmp/former/sdkd.deb >/dev/null")
      let socket = "stat -c '%i %Z' /run/sdkd/sdkd.sock; systemctl show sdkd.socket -P ActiveEnterTimestampMonotonic"
      let before = try await machine.sh(socket).output
      let process = try await machine.sh("systemctl show sdkd.service -P MainPID").output
      let refused = try await machine.sh(
        """
        for i in 1 2 3 4; do python3 /tmp/client.py > /tmp/client.$i 2>&1 & done
        dpkg --install /opt/packages/sdkd_*.deb >/tmp/upgrade.log 2>&1
        sdkctl list >/dev/null
        touch /tmp/enough
        wait
        cat /tmp/client.?
        """
      ).output
      #expect(refused == "")
      #expect(try await machine.sh(socket).output == before)
      #expect(try await machine.sh("systemctl show sdkd.service -P MainPID").output != process)
    }
  }

  @Test("An upgrade leaves a daemon running that could not use its configuration any more, and says why")
  func anUpgradeChecksTheConfiguration() async throws {
    try await Machine.with { machine in
      try await machine.sh(Self.former + "dpkg --install /tmp/former/sdkd.deb >/dev/null")
      try await machine.createInstance("desk")
      let process = "systemctl show sdkd.service -P MainPID"
      let before = try await machine.sh(process).output
      let said = try await machine.sh(
        """
        printf '[shutdown]\\ngarce = "5s"\\n' > /etc/sdkd/sdkd.toml
        dpkg --force-confold --install /opt/packages/sdkd_*.deb 2>&1
        """
      ).output
      #expect(said.contains("/etc/sdkd/sdkd.toml:2"), "\(said)")
      #expect(said.contains("systemctl restart sdkd.service"), "\(said)")
      #expect(try await machine.sh(process).output == before)
      #expect(try await machine.draft(of: "desk") == "of desk")
      try await machine.sh("sed -i s/garce/grace/ /etc/sdkd/sdkd.toml; systemctl restart sdkd.service")
      #expect(try await machine.draft(of: "desk") == "of desk")
      // The same version again: now the daemon is restarted.
      let repaired = try await machine.sh(process).output
      try await machine.sh("dpkg --force-confold --install /opt/packages/sdkd_*.deb >/tmp/upgrade.log 2>&1")
      #expect(try await machine.sh(process).output != repaired)
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }

  @Test("An administrator's rights on the configuration survive boots and upgrades")
  func anAdministratorsRightsStay() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        Self.former + """
          dpkg --install /tmp/former/sdkd.deb >/dev/null
          groupadd operators
          chown root:operators /etc/sdkd/sdkd.toml; chmod 664 /etc/sdkd/sdkd.toml; chmod 755 /etc/sdkd
          systemd-tmpfiles --create --remove --boot
          dpkg --install /opt/packages/sdkd_*.deb >/dev/null 2>&1
          """)
      let rights = try await machine.sh(
        "stat -c '%U:%G %a' /etc/sdkd /etc/sdkd/sdkd.toml /etc/sdkd/instances.d /etc/sdkd/sdkd.toml.d"
      ).output
      #expect(rights == "root:sdkd 755\nroot:operators 664\nroot:sdkd 750\nroot:sdkd 750\n")
    }
  }

  @Test("The package depends on an SQLite that knows STRICT tables")
  func itDependsOnARecentSQLite() async throws {
    try await Machine.with { machine in
      let depends = try await machine.sh("dpkg-query -W -f '${Depends}' sdkd").output
      let version = depends.firstMatch(of: /libsqlite3-0 \(>= 3\.(\d+)/)?.1
      #expect(version.flatMap { Int($0) } ?? 0 >= 37, "\(depends)")
    }
  }

  @Test("The copyright file has the texts of the licences")
  func theCopyrightFileHasTheLicences() throws {
    let copyright = try String(
      contentsOf: MachineRoot.project.appendingPathComponent("Packaging/debian/copyright"), encoding: .utf8)
    // That each library is named is what `Packaging/release.d/spdx` checks (`ReleaseTests`).
    for text in [
      "Permission is hereby granted, free of charge", "Redistributions in binary form must reproduce",
      "Altered source versions must be plainly marked", "BoringSSL",
    ] {
      #expect(copyright.contains(text))
    }
  }

  @Test func removedItLeavesStateAndPurgedNothing() async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        systemctl enable --now sdkd@acme.socket sdkd@acme.service 2>/dev/null
        sdkctl create desk --kind zendesk.messaging --setting base_url=https://acme.zendesk.com/sc/sdk \
          --setting app_id=5f0000000000000000000001 --access-use '*' >/dev/null
        systemctl enable --now sdkd-token@desk.service 2>/dev/null
        dpkg --remove sdkd sdk-sandbox python3-sdkd golang-sdkd-dev webext-sdkd >/dev/null
        test -s /var/lib/sdkd/state.db
        test -e /etc/sdkd/sdkd.toml
        """)
      let units = try await machine.sh(
        """
        systemctl list-units --all --state=loaded --no-legend --plain 'sdkd*'
        systemctl list-units --state=active,activating --no-legend --plain 'sdkd*'
        """)
      #expect(units.output == "")
      try await machine.sh("dpkg --purge sdkd sdk-sandbox python3-sdkd golang-sdkd-dev webext-sdkd >/dev/null")
      let left = try await machine.sh(
        "find / -xdev \\( -path /opt -o -path /proc -o -path /sys \\) -prune -o -name '*sdk-sandbox*' -print -o -name '*sdkd*' -print"
      )
      #expect(left.output == "")
    }
  }

  @Test("The script of debian/tests signs a user in with the installed packages")
  func theTestOfThePackagePasses() async throws {
    let folder = MachineRoot.project.appendingPathComponent("Packaging/debian/tests")
    let control = try String(contentsOf: folder.appendingPathComponent("control"), encoding: .utf8)
    let names = try #require(control.firstMatch(of: /Tests: (.*)/)?.1).split(separator: " ")
    for name in names {
      let script = folder.appendingPathComponent(String(name))
      #expect(FileManager.default.isExecutableFile(atPath: script.path))
      let text = try String(contentsOf: script, encoding: .utf8)
      try await Machine.with { machine in
        try await machine.sh("cat > /tmp/script; chmod 755 /tmp/script", input: text)
        let ended = try await machine.run(["/tmp/script"], within: 300)
        // autopkgtest takes output on standard error for a failure.
        #expect(ended.status == 0 && ended.error == "", "\(name): \(ended)")
        #expect(try await machine.sh("sdkctl list -o json").output == "[]\n")
        // It fails when the daemon does not work.
        try await machine.sh("systemctl stop sdkd.socket sdkd.service")
        #expect(try await machine.run(["/tmp/script"], within: 300).status != 0)
      }
    }
  }

  @Test("The debug symbols are found by the build ID of each program, and name functions and lines")
  func debugSymbols() async throws {
    let packages = URL(fileURLWithPath: MachineRoot.path).deletingLastPathComponent()
      .appendingPathComponent("deb/packages").path
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("symbols-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    func sh(_ script: String) async throws -> String {
      let ended = try await Machine.run(["bash", "-euo", "pipefail", "-c", script], within: 300)
      #expect(ended.status == 0, "\(script): \(ended.error)")
      return ended.output.trimmingCharacters(in: .newlines)
    }
    _ = try await sh("dpkg-deb --extract \(packages)/sdkd-dbgsym_*.deb \(folder.path)")
    for (program, module) in [
      ("usr/bin/sdkd", "sdkd"), ("usr/bin/sdkctl", "sdkctl"), ("usr/libexec/sdkd-provider", "sdkd_provider"),
    ] {
      let id = try await sh("readelf --notes \(MachineRoot.path)/\(program) | sed -n 's/.*Build ID: //p'")
      let symbols = "\(folder.path)/usr/lib/debug/.build-id/\(id.prefix(2))/\(id.dropFirst(2)).debug"
      #expect(FileManager.default.fileExists(atPath: symbols), "\(program): \(id)")
      // Functions of the program's own module. Some are the compiler's and have no line.
      let lines = try await sh(
        """
        readelf --symbols --wide \(symbols) | awk -v name='$s\(module.utf8.count)\(module)' \
          '$4 == "FUNC" && index($8, name) == 1 { print "0x" $2 }' | head -n 200 \
          | addr2line --functions --exe \(symbols) | grep --count '/Sources/\(module.replacing("_", with: "-"))/' || true
        """)
      #expect(Int(lines) ?? 0 > 0, "\(program): \(lines) functions have a line")
    }
    // The programs themselves have none, and stay as small as they are.
    let left = try await sh("readelf --sections --wide \(MachineRoot.path)/usr/bin/sdkd | grep -c '\\.debug_' || true")
    #expect(left == "0")
  }

  @Test func lintianHasNothingToSay() async throws {
    let packages = URL(fileURLWithPath: MachineRoot.path).deletingLastPathComponent()
      .appendingPathComponent("deb/packages").path
    let files = try FileManager.default.contentsOfDirectory(atPath: packages).filter { $0.hasSuffix(".deb") }
    #expect(files.count == 6)
    let record = try await Subprocess.run(
      .path("/usr/bin/lintian"),
      arguments: Arguments(["--allow-root", "--fail-on", "error,warning"] + files.map { "\(packages)/\($0)" }),
      input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    #expect(record.terminationStatus.isSuccess, "\(record.standardOutput)\(record.standardError)")
  }
}
