import Foundation
import Glibc
import Testing

/// The package's script that runs after an upgrade, with the real `sdkd` in place of the new version. systemd's programs
/// write down what they are asked for.
@Suite(.enabled(if: getuid() == 0, "needs root to mount")) struct PostinstTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Packaging/debian/sdkd.postinst").path

  /// A script that makes a machine on which the units in `$UNITS` run, and then upgrades it.
  private static let machine = #"""
    set -eu
    folder=$1 programs=$2 postinst=$3 steps=$4
    shift 4
    mkdir -p "$folder/etc" "$folder/bin"
    cp -a /etc/. "$folder/etc/"
    mount --bind "$folder/etc" /etc
    mount -t tmpfs tmpfs /run
    mkdir -p /run/systemd/system /etc/sdkd/instances.d /etc/sdkd-tenants
    grep -q '^sdkd:' /etc/passwd || echo 'sdkd:x:64997:64997::/nonexistent:/usr/sbin/nologin' >>/etc/passwd
    grep -q '^sdkd:' /etc/group || echo 'sdkd:x:64997:' >>/etc/group
    printf '#!/bin/sh\ncase "$*" in *--full*) ;; *) exit 2 ;; esac\nfor unit in $UNITS; do echo "$unit loaded active running It runs"; done\n' >"$folder/bin/systemctl"
    printf '#!/bin/sh\necho "$*" >>"%s/invoked"\n' "$folder" >"$folder/bin/deb-systemd-invoke"
    chmod 755 "$folder/bin/"*
    export PATH="$folder/bin:$programs:$PATH"
    eval "$steps"
    /bin/sh "$postinst" "$@"
    """#

  /// An upgrade, and which units it restarts.
  private struct Upgrade: Sendable {
    let name: String
    var units = "sdkd.service"
    /// Commands that make the machine's configuration.
    let steps: String
    let restarted: [String]
    /// Texts that the operator reads.
    var said: [String] = []
    var arguments = ["configure", "0.0.9"]
    var root = ""
  }

  private static let mistake = "printf '[shutdown]\\ngarce = \"5s\"\\n' >/etc/sdkd/sdkd.toml"

  private static let upgrades = [
    Upgrade(name: "no configuration", steps: ":", restarted: ["sdkd.service"]),
    Upgrade(
      name: "a configuration without mistakes", steps: "printf '[shutdown]\\ngrace = \"5s\"\\n' >/etc/sdkd/sdkd.toml",
      restarted: ["sdkd.service"]),
    Upgrade(
      name: "a mistake", steps: mistake, restarted: [],
      said: ["/etc/sdkd/sdkd.toml:2", "garce", "run: systemctl restart sdkd.service"]),
    Upgrade(
      name: "a file that the daemon can't read",
      steps: "echo >/etc/sdkd/sdkd.toml; chown root:root /etc/sdkd/sdkd.toml; chmod 600 /etc/sdkd/sdkd.toml",
      restarted: [], said: ["/etc/sdkd/sdkd.toml", "ermission denied"]),
    Upgrade(
      name: "what the daemon only warns of",
      steps: """
        cat >/etc/sdkd/instances.d/chat.toml <<'END'
        id = "chat"
        kind = "salesforce.chat"
        [settings]
        client_id = "3MVG9"
        client_secret = "secret"
        END
        chgrp sdkd /etc/sdkd/instances.d/chat.toml; chmod 640 /etc/sdkd/instances.d/chat.toml
        ! sdkd --check --config /etc/sdkd/sdkd.toml --config-may-be-absent 2>/dev/null
        """, restarted: ["sdkd.service"]),
    Upgrade(
      name: "a credential of the unit",
      steps: """
        printf '[network]\\nproxy = "http://127.0.0.1:3128"\\n' >/etc/sdkd/sdkd.toml
        echo 'proxy_credentials = { credential = "proxy" }' >>/etc/sdkd/sdkd.toml
        mkdir -p /run/credentials/sdkd.service
        printf user:password >/run/credentials/sdkd.service/proxy
        chown -R sdkd /run/credentials/sdkd.service; chmod 400 /run/credentials/sdkd.service/proxy
        """, restarted: ["sdkd.service"]),
    Upgrade(
      name: "one tenant's mistake", units: "sdkd.service sdkd@blue.service sdkd@red.service",
      steps: """
        mkdir -p /etc/sdkd-tenants/blue /etc/sdkd-tenants/red
        printf '[shutdown]\\ngarce = "5s"\\n' >/etc/sdkd-tenants/red/sdkd.toml
        """, restarted: ["sdkd.service", "sdkd@blue.service"],
      said: ["/etc/sdkd-tenants/red/sdkd.toml:2", "run: systemctl restart sdkd@red.service"]),
    Upgrade(
      name: "a program that does not run",
      steps: """
        printf '#!/bin/sh\\necho no library >&2; exit 127\\n' >"$folder/bin/sdkd"
        chmod 755 "$folder/bin/sdkd"
        """,
      restarted: [], said: ["no library"]),
    Upgrade(
      name: "a tenant's configuration that only the tenants' group can read", units: "sdkd@blue.service",
      steps: """
        grep -q '^sdkd-tenants:' /etc/group || echo 'sdkd-tenants:x:64990:' >>/etc/group
        echo 'sdkd_blue:x:64998:64998::/nonexistent:/usr/sbin/nologin' >>/etc/passwd
        mkdir -p /etc/sdkd-tenants/blue
        printf '[shutdown]\\ngrace = "5s"\\n' >/etc/sdkd-tenants/blue/sdkd.toml
        chgrp -R sdkd-tenants /etc/sdkd-tenants/blue
        chmod 750 /etc/sdkd-tenants/blue; chmod 640 /etc/sdkd-tenants/blue/sdkd.toml
        """,
      restarted: ["sdkd@blue.service"]),
    Upgrade(
      name: "a check that does not end",
      steps: """
        printf '#!/bin/sh\\nexit 124\\n' >"$folder/bin/sdkd"
        printf '#!/bin/sh\\nwhile [ "$1" != sdkd ]; do shift; done; "$@"\\n' >"$folder/bin/timeout"
        chmod 755 "$folder/bin/"*
        """,
      restarted: [], said: ["did not end within 60 s"]),
    Upgrade(
      name: "units that can't be listed",
      steps: """
        printf '#!/bin/sh\\nexit 1\\n' >"$folder/bin/systemctl"
        """,
      restarted: [], said: ["can't list the daemons", "systemctl restart sdkd.service"]),
    Upgrade(
      name: "a mistake with a backslash", steps: "printf 'a\\\\nb = 1\\n' >/etc/sdkd/sdkd.toml", restarted: [],
      said: ["/etc/sdkd/sdkd.toml:1"]),
    Upgrade(name: "a stopped daemon", units: "", steps: mistake, restarted: []),
    Upgrade(name: "a root that is not the machine's", steps: ":", restarted: [], root: "/target"),
    Upgrade(name: "a first installation", steps: mistake, restarted: [], arguments: ["configure", ""]),
  ]

  @Test(
    "An upgrade restarts the daemons that can use their configuration, and says why it leaves others running",
    arguments: upgrades.indices)
  func upgrade(index: Int) throws {
    let upgrade = Self.upgrades[index]
    let name = "postinst-\(UUID().uuidString.prefix(8))"
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (log, output) = (folder.appendingPathComponent("errors"), folder.appendingPathComponent("output"))
    let program = try Program(
      "/usr/bin/unshare",
      [
        "--mount", "--propagation", "private", "/bin/sh", "-c", Self.machine, "sh", folder.path,
        Program.directory.path, Self.script, upgrade.steps,
      ] + upgrade.arguments, environment: ["UNITS": upgrade.units, "DPKG_ROOT": upgrade.root], output: output, log: log)
    #expect(program.exit(within: 60) == 0, "\(upgrade.name): \(program.logText)")
    let invoked = try? String(contentsOf: folder.appendingPathComponent("invoked"), encoding: .utf8)
    let expected = upgrade.restarted.map { "try-restart \($0)\n" }.joined()
    #expect((invoked ?? "") == expected, "\(upgrade.name): \(program.logText)")
    for text in upgrade.said { #expect(program.logText.contains(text), "\(upgrade.name): \(program.logText)") }
    if upgrade.said.isEmpty { #expect(!program.logText.contains("warning"), "\(upgrade.name): \(program.logText)") }
  }
}
