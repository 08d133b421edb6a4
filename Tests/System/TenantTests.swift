import Testing

/// Tenants with a daemon each, isolated from each other by systemd.
@Suite struct TenantTests {
  /// Starts the sockets of two tenants, acme and beta. The user agent is an administrator of acme.
  private func start(_ machine: Machine) async throws {
    try await machine.sh(
      """
      useradd agent
      for tenant in acme beta; do
        install -d -m 750 -g sdkd-tenants /etc/sdkd-tenants/$tenant /etc/sdkd-tenants/$tenant/instances.d
      done
      printf '[access]\\nadmins = ["user:agent"]\\n' > /etc/sdkd-tenants/acme/sdkd.toml
      chgrp sdkd-tenants /etc/sdkd-tenants/acme/sdkd.toml; chmod 640 /etc/sdkd-tenants/acme/sdkd.toml
      systemctl start sdkd@acme.socket sdkd@beta.socket
      """)
  }

  private func daemon(_ machine: Machine, _ tenant: String) async throws -> (pid: String, uid: String) {
    try await machine.sh("sdkctl --tenant \(tenant) status")
    let pid = try await machine.sh("systemctl show sdkd@\(tenant) -P MainPID").output.dropLast()
    return (String(pid), String(try await machine.sh("stat -c %u /proc/\(pid)").output.dropLast()))
  }

  @Test func eachHasADaemonAUserAndAStateOfItsOwn() async throws {
    try await Machine.with { machine in
      try await start(machine)
      let (acme, beta) = (try await daemon(machine, "acme"), try await daemon(machine, "beta"))
      let system = try await machine.sh("id -u sdkd").output.dropLast()
      #expect(Set([acme.uid, beta.uid, String(system), "0"]).count == 4)
      let state = "/var/lib/private/sdkd-tenants"
      #expect(
        try await machine.sh("stat -c '%a %u' \(state)/acme \(state)/beta").output
          == "700 \(acme.uid)\n700 \(beta.uid)\n")

      // A tenant's daemon reaches no file of the other tenant, neither as its user nor inside its mount namespace.
      let group = try await machine.sh("getent group sdkd-tenants | cut -d: -f3").output.dropLast()
      for (tenant, name, other) in [(acme, "beta", beta), (beta, "acme", acme)] {
        let asUser = "setpriv --reuid=\(tenant.uid) --regid=\(group) --clear-groups --no-new-privs"
        let theirs = ["\(state)/\(name)", "\(state)/\(name)/state.db", "/proc/\(other.pid)/environ", "/var/lib/sdkd"]
        for path in theirs {
          let ended = try await machine.run(["bash", "-c", "test -e \(path) && ! \(asUser) grep -r . \(path)"])
          #expect(ended.status == 0 && ended.output == "", "\(path): \(ended)")
        }
        let inside = "nsenter --target \(tenant.pid) --mount --setuid=\(tenant.uid) --setgid=\(group)"
        let hidden = ["/etc/sdkd-tenants/\(name)", "/etc/sdkd/instances.d", "\(state)/\(name)", "/run/sdkd/sdkd.sock"]
        for path in hidden {
          let ended = try await machine.run(["bash", "-c", "test -e \(path) && ! \(inside) stat \(path)"])
          #expect(ended.status == 0 && ended.output == "", "\(path): \(ended)")
        }
      }
    }
  }

  @Test func whoIsAllowedIsServedAndChecksWhoServes() async throws {
    try await Machine.with { machine in
      try await start(machine)
      try await machine.startSandbox()
      let agent = "runuser -u agent -- sdkctl"
      try await machine.signIn("alice", at: "desk", sdkctl: "\(agent) --tenant acme")
      #expect(try await machine.sh("\(agent) --tenant acme token desk").output.hasPrefix("ey"))
      let path = "SDKD_SOCKET=/run/sdkd-tenants/acme.sock"
      #expect(try await machine.sh("\(path) \(agent) list --template '{instance}'").output == "desk\n")
      #expect(
        try await machine.sh("\(agent) --tenant beta list -o json; \(agent) --system list -o json").output == "[]\n[]\n"
      )
      #expect(try await machine.run(["bash", "-c", "\(agent) --tenant beta create x \(Machine.settings)"]).status == 4)

      // The state survives a restart of the daemon, which may then have another dynamic user ID.
      try await machine.sh("systemctl restart sdkd@acme.service")
      #expect(try await machine.sh("\(agent) --tenant acme token desk").output.hasPrefix("ey"))

      // A client refuses a socket that root did not create.
      try await machine.sh(
        """
        useradd mallory; chmod 777 /run/sdkd-tenants
        systemd-run --quiet --unit=trap --uid=mallory -p UMask=0 /usr/bin/node -e \
          'require("net").createServer().listen("/run/sdkd-tenants/trap.sock")'
        """)
      try await machine.eventually("the trap is set", "test -S /run/sdkd-tenants/trap.sock")
      let trapped = try await machine.run(["bash", "-c", "\(agent) --tenant trap status"])
      #expect(trapped.status == 4)
      #expect(trapped.error.contains("(untrustedServer)"), "\(trapped.error)")
    }
  }

  @Test func aReloadFindsWhatChangedInItsFiles() async throws {
    try await Machine.with { machine in
      try await start(machine)
      #expect(try await machine.sh("sdkctl --tenant acme list -o json").output == "[]\n")
      try await machine.sh(
        """
        printf 'id = "desk"\\nkind = "zendesk.messaging"\\n[settings]\\nbase_url = "http://127.0.0.1:8787/zm"\\napp_id = "a"\\n' |
          install -m 640 -g sdkd-tenants /dev/stdin /etc/sdkd-tenants/acme/instances.d/desk.toml
        systemctl start sdkd@beta.service
        systemctl reload sdkd@acme.service sdkd@beta.service
        """)
      #expect(try await machine.sh("sdkctl --tenant acme list --template '{instance}'").output == "desk\n")
      #expect(try await machine.sh("sdkctl --tenant beta list -o json").output == "[]\n")
      try await machine.sh("echo 'kind = 7' >> /etc/sdkd-tenants/acme/instances.d/desk.toml")
      #expect(try await machine.run(["systemctl", "reload", "sdkd@acme.service"]).status != 0)
    }
  }

  @Test("An upgrade restarts the daemons of the tenants whose configuration it can use")
  func anUpgradeChecksEachConfiguration() async throws {
    try await Machine.with { machine in
      try await start(machine)
      let before = (acme: try await daemon(machine, "acme").pid, beta: try await daemon(machine, "beta").pid)
      let said = try await machine.sh(
        """
        printf '[shutdown]\\ngarce = "5s"\\n' | install -m 640 -g sdkd-tenants /dev/stdin /etc/sdkd-tenants/beta/sdkd.toml
        dpkg --force-confold --install /opt/packages/sdkd_*.deb 2>&1
        """
      ).output
      #expect(said.contains("/etc/sdkd-tenants/beta/sdkd.toml:2") && !said.contains("acme"), "\(said)")
      #expect(try await daemon(machine, "acme").pid != before.acme)
      #expect(try await daemon(machine, "beta").pid == before.beta)
    }
  }

  @Test func itsProvidersAreItsOwn() async throws {
    try await Machine.with { machine in
      try await start(machine)
      try await machine.startSandbox()
      try await machine.installProviders()
      try await machine.sh("install -d -m 755 /run/sdkd-providers/acme; echo '{\"unit\": \"desk\"}' > /root/provider")
      try await machine.enableProvider(
        "acme-desk", program: "/usr/local/libexec/shell-token", socket: "/run/sdkd-providers/acme/desk.sock",
        "SocketUser=root\\nSocketGroup=sdkd-tenants\\nSocketMode=0660")
      for tenant in ["acme", "beta"] {
        try await machine.signIn(
          "alice", at: "desk", "--provider-file /root/provider", sdkctl: "sdkctl --tenant \(tenant)")
      }
      try await machine.sh("sdkctl --tenant acme refresh desk")
      #expect(
        try await machine.run(["sdkctl", "--tenant", "beta", "refresh", "desk"]).error.contains("(providerFailed)"))
    }
  }

  @Test("A tenant's daemon reaches no provider of others, whether or not it has providers", arguments: [true, false])
  func itReachesNoProviderOfOthers(hasProviders: Bool) async throws {
    try await Machine.with { machine in
      try await start(machine)
      let lines = "SocketUser=root\\nSocketGroup=sdkd-tenants\\nSocketMode=0660"
      for (name, socket) in [("beta-desk", "beta/desk"), ("desk", "desk"), ("acme-desk", "acme/desk")] {
        guard hasProviders || name != "acme-desk" else { continue }
        try await machine.enableProvider(
          name, program: "/usr/bin/true", socket: "/run/sdkd-providers/\(socket).sock", lines)
      }
      let acme = try await daemon(machine, "acme")
      let group = try await machine.sh("getent group sdkd-tenants | cut -d: -f3").output.dropLast()
      let inside = "nsenter --target \(acme.pid) --mount --setuid=\(acme.uid) --setgid=\(group)"
      #expect(
        try await machine.sh("\(inside) find /run/sdkd-providers -mindepth 1").output
          == (hasProviders ? "/run/sdkd-providers/acme\n/run/sdkd-providers/acme/desk.sock\n" : ""))
      let connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
      for other in ["beta/desk", "desk"] {
        let path = "/run/sdkd-providers/\(other).sock"
        let ended = try await machine.run([
          "bash", "-c", "test -S \(path) && \(inside) python3 -c '\(connect)' \(path)",
        ])
        #expect(ended.status == 1 && ended.error.contains("FileNotFoundError"), "\(path): \(ended)")
      }
    }
  }

  /// User names have a maximal length. Without the check in the socket unit, systemd would restart such a daemon
  /// forever.
  @Test func aNameThatNoUserCanHaveIsRefusedOnceAndExplained() async throws {
    try await Machine.with { machine in
      let rule = "can not be the name of a tenant: that is at most 26 letters, digits, - and _"
      for name in ["a-tenant-with-27-characters", "b.c", "d\\x20e"] {
        for unit in ["sdkd@\(name).socket", "sdkd@\(name).service"] {
          #expect(try await machine.run(["systemctl", "start", unit]).status != 0, "\(unit)")
        }
        let said = try await machine.journal("-o cat -p err -u 'sdkd@\(name).socket'") { $0.contains(rule) }
        #expect(said.contains("\(name) \(rule)"), "\(said)")
        let restarts = try await machine.sh("systemctl show -P NRestarts -P ActiveState 'sdkd@\(name).service'").output
        #expect(restarts.split(separator: "\n").sorted() == ["0", "inactive"], "\(restarts)")
      }
      let longest = "a-tenant-with-26-character"
      try await machine.sh("systemctl start sdkd@\(longest).socket")
      #expect(try await machine.sh("sdkctl --tenant \(longest) list -o json").output == "[]\n")
      let refused = try await machine.run(["sdkctl", "--tenant", "\(longest)s", "list"])
      #expect(refused.status == 2 && refused.error.contains("at most 26 letters"), "\(refused)")
    }
  }

  /// The procedures of `recovery.md`, followed for a tenant's daemon instead of the system's.
  @Test func itsKeyAndItsCopiesAreItsOwn() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await start(machine)
      let (sdkctl, unit) = ("sdkctl --tenant acme", "sdkd@acme.service")
      func draft(_ tenant: String = "acme") async throws -> String {
        try await machine.sh("sdkctl --tenant \(tenant) storage desk get draft --template '{value}'").output
      }
      func key(_ tenant: String = "acme") async throws -> String {
        try await machine.sh("sdkctl --tenant \(tenant) status | sed -n 's/^ *key *//p'").output
      }
      for tenant in ["acme", "beta"] {
        try await machine.sh(
          """
          sdkctl --tenant \(tenant) create desk \(Machine.settings) > /dev/null
          echo of \(tenant) | sdkctl --tenant \(tenant) storage desk put draft --text > /dev/null
          """)
      }
      let (before, others) = (try await draft(), try await draft("beta"))
      #expect(before.contains("of acme") && others.contains("of beta"))

      let recovery = try await machine.sh("\(sdkctl) key init --template '{recoveryKey}'").output
      try await machine.sh("systemctl restart \(unit)")
      #expect(try await key() == "sdkd.key\n")
      #expect(try await key("beta") == "root.key\n")
      #expect(try await machine.sh("ls /etc/credstore.encrypted").output == "sdkd@acme.key\n")
      #expect(try await machine.sh("\(sdkctl) key rotate --template '{rewrapped}'").output == "1\n")
      let next = try await machine.sh("\(sdkctl) key rotate --outer --template '{recoveryKey}'").output
      #expect(next != recovery)
      try await machine.sh("systemctl restart \(unit)")
      #expect(try await key().hasPrefix("sdkd.key.next"))
      try await machine.sh("\(sdkctl) key rotate --finish; systemctl restart \(unit)")
      #expect(try await key() == "sdkd.key\n")
      #expect(try await machine.sh("ls /etc/credstore.encrypted").output == "sdkd@acme.key\n")
      #expect(try await draft() == before)

      try await machine.sh("\(sdkctl) backup good; echo changed | \(sdkctl) storage desk put draft --text")
      let busy = try await machine.run(["bash", "-c", "\(sdkctl) restore good"])
      #expect(busy.status == 75 && busy.error.contains("systemctl stop sdkd@acme.socket"), "\(busy.error)")
      try await machine.sh("systemctl stop sdkd@acme.socket \(unit); rm /etc/credstore.encrypted/sdkd@acme.key")
      try await machine.sh("\(sdkctl) key init --recovery", input: next)
      try await machine.sh("\(sdkctl) restore good; systemctl start sdkd@acme.socket \(unit)")
      #expect(try await draft() == before)
      #expect(try await draft("beta") == others)
      let state = "/var/lib/private/sdkd-tenants/acme"
      let owners = try await machine.sh("find \(state) -not -user $(stat -c %u \(state))").output
      #expect(owners == "")
      let doctor = try await machine.run(["bash", "-c", "\(sdkctl) doctor"])
      #expect(doctor.status == 0, "\(doctor.output)\(doctor.error)")
    }
  }
}
