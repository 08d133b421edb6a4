import Foundation
import Testing

/// The apt repository of a release, on booted systems.
@Suite struct RepositoryTests {
  /// The folder of the releases in a machine.
  private static let releases = "--bind-ro=\(MachineRoot.releases):/srv/releases"

  /// The page that says how to install.
  private static let page = MachineRoot.project
    .appendingPathComponent("Packaging/documentation/operator-guide/install.md")

  /// Makes a machine one without the packages and without other sources of packages.
  private func removePackages(_ machine: Machine) async throws {
    try await machine.sh(
      """
      dpkg --purge $(dpkg-query -W -f '${Package} ' sdkd sdk-sandbox python3-sdkd webext-sdkd 2>/dev/null) >/dev/null
      rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
      """)
  }

  /// Starts a web server at the address in `sdkd.sources`, which offers what `/srv/www` leads to.
  private func serve(_ machine: Machine, _ folder: String) async throws {
    try await machine.sh(
      """
      ln -s \(folder) /srv/www
      systemd-run --quiet --unit=packages python3 -m http.server --bind 127.0.0.1 --directory /srv/www 8000
      until (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.05; done
      """)
  }

  /// Upgrades to the later version while a client calls all the time.
  private func upgrades(_ machine: Machine, _ offer: String) async throws {
    try await machine.createInstance("desk")
    let socket = "stat -c '%i %Z' /run/sdkd/sdkd.sock; systemctl show sdkd.socket -P ActiveEnterTimestampMonotonic"
    let before = try await machine.sh(socket).output
    let process = try await machine.sh("systemctl show -P MainPID sdkd.service").output
    let version = try await machine.sh("dpkg-query -W -f '${Version}' sdkd").output
    try await machine.sh(
      """
      systemd-run --quiet -u asker bash -c \
        'while [ ! -e /tmp/enough ]; do sdkctl list >/dev/null || touch /tmp/refused; done'
      \(offer)
      apt-get -qq update
      DEBIAN_FRONTEND=noninteractive apt-get -qq upgrade >/dev/null
      sdkctl list >/dev/null
      touch /tmp/enough
      test ! -e /tmp/refused
      """)
    #expect(try await machine.sh("dpkg-query -W -f '${Version}' sdkd").output == version + "+later")
    #expect(try await machine.sh(socket).output == before, "the socket stays open")
    #expect(try await machine.sh("systemctl show -P MainPID sdkd.service").output != process)
    #expect(try await machine.draft(of: "desk") == "of desk")
  }

  @Test(
    "On Debian 12 the commands of the page install from a web server, and a later version upgrades without a refused call"
  )
  func bookworm() async throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let session = ConsoleSession(of: text.replacing("https://packages.example.org/sdkd", with: "http://127.0.0.1:8000"))
    #expect(session.steps.count >= 5)
    try await Machine.with(options: [Self.releases]) { machine in
      try await removePackages(machine)
      try await serve(machine, "/srv/releases/first")
      for step in session.steps {
        let ended = try await machine.run(["bash", "-euo", "pipefail", "-c", "exec 2>&1\n\(step.command)"])
        #expect(ended.status == 0, "\(step.command)\n\(ended.output)")
        #expect(step.matches(ended.output), "\(step.command)\n\(ended.output)")
      }
      #expect(try await machine.sh("systemctl is-active sdkd.socket sdkd.service").output == "active\nactive\n")
      try await upgrades(machine, "ln -sfn /srv/releases/later /srv/www")
      // The version before is still offered.
      try await machine.sh(
        "apt-get -qq install --allow-downgrades --simulate sdkd=$(sdkctl --version | cut -d ' ' -f 2) >/dev/null")
    }
  }

  @Test("On Debian 13 apt installs from the repository, and a later version upgrades without a refused call")
  func trixie() async throws {
    // The image's own root has the package's dependencies, systemd among them.
    try await Machine.with(root: Image.root, options: [Self.releases]) { machine in
      #expect(try await machine.sh(". /etc/os-release; echo $VERSION_CODENAME").output == "trixie\n")
      try await removePackages(machine)
      try await machine.sh(
        """
        cp /srv/releases/first/sdkd-archive-keyring.gpg /usr/share/keyrings/
        ln -s /srv/releases/first /srv/packages
        sed 's|^URIs:.*|URIs: file:/srv/packages|' /srv/releases/first/sdkd.sources >/etc/apt/sources.list.d/sdkd.sources
        apt-get -qq update
        DEBIAN_FRONTEND=noninteractive apt-get -qq install sdkd >/dev/null
        """)
      #expect(try await machine.sh("systemctl is-active sdkd.socket sdkd.service").output == "active\nactive\n")
      try await upgrades(machine, "ln -sfn /srv/releases/later /srv/packages")
    }
  }

  /// Changes to a copy of the repository, each with what apt says.
  private static let faults = [
    // Signed by another key.
    ("rm -r dists; cp -r /srv/releases/foreign/dists .", "NO_PUBKEY"),
    // Changed after it was signed.
    ("sed -i 's/^Label: sdkd/Label: other/' dists/stable/InRelease", "BADSIG"),
    ("rm dists/stable/InRelease dists/stable/Release.gpg", "is not signed"),
    // An index, and packages, that the signature does not cover.
    (
      "for file in $(find dists -name 'Packages*' -o -path '*by-hash/*/*'); do echo >>$file; done",
      "unexpected size"
    ),
    ("\(package); echo >>$file", "unexpected size"),
    ("\(package); printf x | dd of=$file bs=1 seek=9000 conv=notrunc status=none", "Hash Sum mismatch"),
  ]
  private static let package =
    "rm packages; mkdir packages; cp /srv/releases/first/packages/sdkd_*.deb packages; file=$(ls packages/*)"

  @Test("apt refuses a repository with a wrong signature, and the page explains what it says")
  func refused() async throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    try await Machine.with(options: [Self.releases]) { machine in
      try await removePackages(machine)
      try await machine.sh(
        """
        cp /srv/releases/first/sdkd-archive-keyring.gpg /usr/share/keyrings/
        cp /srv/releases/first/sdkd.sources /etc/apt/sources.list.d/
        """)
      try await serve(machine, "/srv/copy")
      for (change, words) in Self.faults + [(":", "")] {
        let run = try await machine.run([
          "bash", "-c",
          """
          exec 2>&1
          rm -rf /srv/copy /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
          mkdir /srv/copy
          cd /srv/copy
          cp -r /srv/releases/first/dists .
          ln -s /srv/releases/first/packages packages
          \(change)
          apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y sdkd
          """,
        ])
        let isInstalled = try await machine.run(["test", "-e", "/usr/bin/sdkd"]).status == 0
        guard words != "" else {
          #expect(run.status == 0 && isInstalled, "without a change: \(run.output)")
          continue
        }
        #expect(text.contains("| `\(words)` |"), "the page does not explain \(words)")
        #expect(run.status != 0 && run.output.contains(words) && !isInstalled, "\(change)\n\(run.output)")
      }
    }
  }
}
