import Testing

/// Faults that operators met. `sdkctl doctor` names the cause and the cure of each, and the cure works as it is printed.
/// `CredentialTests` has those of the root key.
@Suite struct SituationTests {
  private static let both = "sdkd.socket sdkd.service"
  private static let dropIn = "/etc/systemd/system/sdkd.service.d/fault.conf"
  private static let again =
    "read why: journalctl -u sdkd.service; then systemctl reset-failed \(both); systemctl start \(both)"

  /// Returns a script that gives the service a drop-in and restarts it, which may fail.
  private static func give(_ lines: String) -> String {
    "mkdir -p \(dropIn.dropLast("/fault.conf".count)); printf '\(lines)\\n' > \(dropIn); systemctl daemon-reload; "
      + "systemctl restart sdkd.service || true"
  }

  static let units: [Situation] = [
    Situation(
      name: "the file of the socket is removed", fault: "rm /run/sdkd/sdkd.sock", check: "socket",
      says: "There is no socket at /run/sdkd/sdkd.sock.", advice: "systemctl restart sdkd.socket"),
    Situation(
      name: "the socket is stopped", fault: "systemctl stop sdkd.socket", check: "unit",
      says: "sdkd.socket and sdkd.service are stopped.", advice: "systemctl start \(both)"),
    Situation(
      name: "the service is stopped", fault: "systemctl stop sdkd.service", check: "unit", status: "warning",
      says: "sdkd.service is stopped, so that no token is renewed.", advice: "systemctl start sdkd.service"),
    Situation(
      name: "the socket is masked", fault: "systemctl mask --now sdkd.socket", check: "unit",
      says: "sdkd.socket is masked", advice: "systemctl unmask sdkd.socket; systemctl start \(both)"),
    Situation(
      name: "the service is masked", fault: "systemctl mask --now sdkd.service", check: "unit",
      says: "sdkd.service is masked", advice: "systemctl unmask sdkd.service; systemctl start \(both)"),
    Situation(
      name: "the units are disabled", fault: "systemctl disable sdkd.service", check: "boot", status: "warning",
      says: "sdkd.socket and sdkd.service are disabled", advice: "systemctl enable \(both)"),
    Situation(
      name: "the daemon is frozen", fault: "kill -STOP $(systemctl show -P MainPID sdkd.service)", check: "daemon",
      says: "The daemon has not answered in 3 s.", advice: "systemctl restart sdkd.service"),
    Situation(
      name: "the daemon fails at each start until systemd gives up",
      fault: give("[Unit]\\nStartLimitBurst=2\\n[Service]\\nRestartSec=100ms\\nExecStart=\\nExecStart=/bin/false"),
      check: "unit", says: "sdkd.service is failed (exit-code)", advice: again,
      byHand: "rm \(dropIn); systemctl daemon-reload"),
    Situation(
      name: "the daemon fails at each start, and systemd tries again",
      fault: give("[Service]\\nRestartSec=1s\\nExecStart=\\nExecStart=/bin/false")
        + "; until [ $(systemctl show -P NRestarts sdkd.service) -ge 2 ]; do sleep 0.1; done",
      check: "unit", says: "sdkd.service is activating (auto-restart), ",
      advice: "read why: journalctl -u sdkd.service",
      byHand: "rm \(dropIn); systemctl daemon-reload"),
    Situation(
      name: "another daemon has the state",
      fault: """
        systemctl stop \(both)
        systemd-run --quiet --unit=other -p Type=notify -p NotifyAccess=main -p User=sdkd /usr/bin/sdkd \
          --socket /var/tmp/other.sock --state /var/lib/sdkd
        systemctl start sdkd.socket
        ! systemctl start sdkd.service
        """, check: "unit", says: "It said: The state in /var/lib/sdkd is in use", advice: again,
      byHand: "systemctl stop other.service"),
    Situation(
      name: "few descriptors are allowed", fault: give("[Service]\\nLimitNOFILE=64"), check: "descriptors",
      status: "warning", says: "The daemon may open 64 files.",
      advice: "remove LimitNOFILE= from the drop-ins that systemctl cat sdkd.service shows; systemctl daemon-reload; "
        + "systemctl restart sdkd.service", byHand: "rm \(dropIn)"),
    Situation(
      name: "journald is stopped",
      fault: "systemctl stop systemd-journald.socket systemd-journald-dev-log.socket systemd-journald.service",
      check: "journal", says: "systemd-journald does not run",
      advice: "systemctl start systemd-journald.socket systemd-journald.service"),
  ]

  private static let corrects = "sdkctl config check; correct what it lists; systemctl reload sdkd.service"
  private static let uncorrected = "sed -i '/^nonsense/d' /etc/sdkd/sdkd.toml"

  /// Returns the fault of a file or folder that root made for itself, and the commands that the message has.
  private static func closed(_ path: String, _ mode: String, _ open: String) -> Situation {
    let commands = "chgrp sdkd \(path); chmod \(open) \(path)"
    return Situation(
      name: "\(path) can be read by root only",
      fault: "chgrp root \(path); chmod \(mode) \(path); systemctl restart sdkd.service", check: "configuration",
      says: "Let the daemon read it: \(commands)", advice: corrects, byHand: commands)
  }

  static let configuration: [Situation] = [
    Situation(
      name: "a mistake while the daemon runs",
      fault: "echo 'nonsense = 1' >> /etc/sdkd/sdkd.toml; ! systemctl reload sdkd.service", check: "configuration",
      says: "nonsense: This key is not known", advice: corrects, byHand: uncorrected),
    Situation(
      name: "a mistake at the start",
      fault: "echo 'nonsense = 1' >> /etc/sdkd/sdkd.toml; systemctl restart sdkd.service", check: "health",
      says: "configuration: /etc/sdkd/sdkd.toml:", advice: corrects, byHand: uncorrected),
    Situation(
      name: "no TOML", fault: "echo 'nonsense [' >> /etc/sdkd/sdkd.toml; systemctl restart sdkd.service",
      check: "configuration", says: "has 1 mistake: /etc/sdkd/sdkd.toml:", advice: corrects, byHand: uncorrected),
    closed("/etc/sdkd", "700", "g+rx"), closed("/etc/sdkd/sdkd.toml", "600", "g+r"),
    closed("/etc/sdkd/instances.d", "700", "g+rx"),
    Situation(
      name: "a program has the port of the metrics",
      fault: """
        systemd-run --quiet --unit=occupant python3 -m http.server 9464 --bind 127.0.0.1
        until (exec 3<>/dev/tcp/127.0.0.1/9464) 2>/dev/null; do sleep 0.05; done
        sed -i 's/^# *listen = "127.0.0.1:9464"/listen = "127.0.0.1:9464"/' /etc/sdkd/sdkd.toml
        systemctl restart sdkd.service
        """, check: "health", status: "warning",
      says: "metrics: Metrics can't be served at 127.0.0.1:9464: another program has this port",
      advice: "after that: systemctl reload sdkd.service", byHand: "systemctl stop occupant.service"),
    Situation(
      name: "a rule names an unknown user",
      fault: "sdkctl create ruled \(Machine.settings) --access-use user:bob > /dev/null 2>&1", check: "rights",
      status: "warning", says: "ruled: There is no user bob",
      advice: "correct the rule (sdkctl show ruled has all), or add the name",
      byHand: "useradd bob"),
    Situation(
      name: "a rule names an unknown unit",
      fault: "sdkctl update ruled --access-observe unit:kiosc.service > /dev/null 2>&1", check: "rights",
      status: "warning",
      says: "ruled: systemd knows no unit kiosc.service, so a rule with it matches no caller now.",
      advice: "correct the rule (sdkctl show ruled has all), or install the unit (one of systemd-run exists only while "
        + "it runs)", byHand: "sdkctl update ruled --access-observe unit:sdkd.service > /dev/null 2>&1"),
    Situation(
      name: "a user has no role", fault: "useradd alice", check: "rights", status: "warning",
      says: "alice sees no instance.",
      advice: "have an admin add user:alice to the rules that sdkctl show INSTANCE lists; sdkctl update INSTANCE "
        + "--access-use … replaces all rules of the role, and an instance whose source is a file has its rules in "
        + "/etc/sdkd/instances.d", byHand: "sdkctl update ruled --access-use user:alice > /dev/null",
      caller: "runuser -u alice --"),
  ]

  private static let provider = "sdkd-provider-front-desk"
  private static let program = "/usr/local/libexec/shell-token"

  static let providers: [Situation] = [
    Situation(
      name: "the socket of the provider is stopped", fault: "systemctl stop \(provider).socket", check: "provider",
      says: "desk: there is no socket at /run/sdkd-providers/front-desk.sock.",
      advice: "systemctl enable --now \(provider).socket"),
    Situation(
      name: "the socket of the provider is another user's",
      fault: """
        printf '[Socket]\\nSocketUser=root\\n' > /etc/systemd/system/\(provider).socket.d/local.conf
        systemctl daemon-reload; systemctl restart \(provider).socket
        """, check: "provider",
      says: "desk: the daemon's user sdkd may not connect to /run/sdkd-providers/front-desk.sock.",
      advice: "systemctl cat \(provider).socket; set SocketUser=sdkd there; systemctl daemon-reload; "
        + "systemctl restart \(provider).socket; sdkctl refresh desk",
      byHand: "sed -i s/root/sdkd/ /etc/systemd/system/\(provider).socket.d/local.conf"),
    Situation(
      name: "the program of the provider is missing", fault: "mv \(program) /root/; ! sdkctl refresh desk",
      check: "provider", says: "desk: \(program), the program of the unit front-desk, does not exist.",
      advice: "systemctl cat \(provider)@.service shows ExecStart=; install the program, or name another there; "
        + "sdkctl refresh desk",
      byHand: "mv /root/shell-token \(program)"),
    Situation(
      name: "the program of the provider can't be executed", fault: "chmod 644 \(program); ! sdkctl refresh desk",
      check: "provider",
      says: "desk: \(program), the program of the unit front-desk, can't be executed by every user.",
      advice: "chmod 755 \(program); sdkctl refresh desk"),
    Situation(
      name: "the provider fails",
      fault: """
        cp \(program) /root/
        printf '#!/bin/sh\\necho the backend is down >&2; exit 3\\n' > \(program)
        ! sdkctl refresh desk
        """, check: "provider", status: "warning", says: "desk: its provider failed with exit status 3",
      advice: "read why: sdkctl logs desk; then sdkctl refresh desk", byHand: "cp /root/shell-token \(program)"),
  ]

  static let commands: [Situation] = [
    Situation(
      name: "the program of a command is missing", fault: "mv \(program) /root/; ! sdkctl refresh counter",
      check: "provider", says: "counter: \(program) does not exist.",
      advice: "install it, or name another: sdkctl update counter --provider-command …; then sdkctl refresh counter",
      byHand: "mv /root/shell-token \(program)"),
    Situation(
      name: "the program of a command can't be executed", fault: "chmod 644 \(program); ! sdkctl refresh counter",
      check: "provider", says: "counter: \(program) can't be executed.",
      advice: "chmod 755 \(program); then sdkctl refresh counter"),
  ]

  /// The certificate of a vendor that is no sandbox.
  private static let certificate = "/usr/local/share/ca-certificates/vendor.crt"

  static let vendors: [Situation] = [
    Situation(
      name: "the vendor is down", fault: "systemctl stop sandbox.service", check: "vendor",
      says: "http://127.0.0.1:8787 (desk) can't be reached: curl: (7) ", advice: "look at network, DNS and proxy",
      byHand: Machine.sandbox),
    Situation(
      name: "the vendor's name is unknown",
      fault: "sdkctl create named --kind zendesk.messaging --setting base_url=https://desk.vendor.test "
        + "--setting app_id=5f0000000000000000000001 > /dev/null",
      check: "vendor",
      says: "https://desk.vendor.test (named) can't be reached: curl: (6) Could not resolve host: desk.vendor.test.",
      advice: "look at network, DNS and proxy", byHand: "echo '127.0.0.1 desk.vendor.test' >> /etc/hosts"),
  ]

  /// The script that starts a vendor with a certificate that the machine trusts.
  private static let vendor = """
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=desk.vendor.test \
      -addext subjectAltName=DNS:desk.vendor.test -keyout /root/vendor.key -out \(certificate) 2> /dev/null
    update-ca-certificates > /dev/null
    cat > /root/vendor.py <<'END'
    import http.server, ssl
    server = http.server.HTTPServer(("127.0.0.1", 443), http.server.SimpleHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("\(certificate)", "/root/vendor.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
    END
    systemd-run --quiet --unit=vendor python3 /root/vendor.py
    """

  private static let state = "/var/lib/sdkd"
  private static let room = "make room: du -xh --max-depth=3 \"$(stat -c %m \(state))\" | sort -h"
  private static let fill =
    "fallocate -l $(df --output=avail -B1 \(state) | tail -1) \(state)/ballast; cat /dev/zero >> \(state)/ballast || true"
  private static let fillInodes = "i=0; while touch \(state)/ballast-$i 2> /dev/null; do i=$((i + 1)); done"
  private static let restart = "systemctl restart sdkd.service"

  /// Returns the script that gives the state another schema, as another version would, and restarts the daemon.
  private static func setSchema(_ version: String) -> String {
    let sql =
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); v = c.execute('PRAGMA user_version').fetchone()[0]; "
      + "c.execute('PRAGMA user_version = %d' % (\(version)))"
    return
      "systemctl stop sdkd.service; runuser -u sdkd -- python3 -c \"\(sql)\" \(state)/state.db; systemctl start sdkd.service"
  }

  static let disks: [Situation] = [
    Situation(
      name: "a newer version wrote the state", fault: setSchema("v + 1000"), check: "health",
      says: "; install the newer version again.", advice: "journalctl -x -p warning -u sdkd.service",
      byHand: setSchema("v - 1000")),
    Situation(
      name: "the database is root's",
      fault: "systemctl stop sdkd.service; chown root: \(state)/state.db; systemctl start sdkd.service", check: "state",
      says: "\(state)/state.db belongs to another user than \(state)",
      advice: "chown --reference=\(state) \(state)/state.db"),
    Situation(
      name: "the mode of the database is 0",
      fault: "systemctl stop sdkd.service; chmod 0 \(state)/state.db; systemctl start sdkd.service", check: "state",
      says: "The daemon can't write \(state)/state.db, because its mode forbids that.",
      advice: "chmod u+rwX \(state)/state.db"),
    Situation(
      name: "the disk is mounted read-only",
      fault: "systemctl stop sdkd.service; mount -o remount,ro \(state); systemctl start sdkd.service", check: "disk",
      says: "The file system of \(state) is mounted read-only.",
      advice: "find out why: dmesg | tail; then: mount -o remount,rw \"$(stat -c %m \(state))\""),
    Situation(
      name: "the disk is full", fault: fill, check: "disk", says: "are free for \(state).", advice: room,
      byHand: "rm \(state)/ballast"),
    Situation(
      name: "the disk is full at the start", fault: "\(fill); \(restart)", check: "disk",
      says: "are free for \(state).",
      advice: room, byHand: "rm \(state)/ballast"),
    Situation(
      name: "there are no inodes", fault: fillInodes, check: "disk", says: "There are no inodes left for \(state).",
      advice: "remove files: du --inodes -x \"$(stat -c %m \(state))\" | sort -n | tail",
      byHand: "rm \(state)/ballast-*"),
    Situation(
      name: "there are no inodes at the start", fault: "\(fillInodes); \(restart)", check: "disk",
      says: "There are no inodes left for \(state).",
      advice: "remove files: du --inodes -x \"$(stat -c %m \(state))\" | sort -n | tail",
      byHand: "rm \(state)/ballast-*"),
    Situation(
      name: "a restored backup has set the former state aside",
      fault: """
        sdkctl backup kept > /dev/null; systemctl stop \(both); sdkctl restore kept > /dev/null 2>&1
        systemctl start \(both)
        rm -f \(state)/state.db.before-restore-*-wal \(state)/state.db.before-restore-*-shm
        mv \(state)/state.db.before-restore-* \(state)/state.db.before-restore-1
        """, check: "health", status: "warning",
      says: "setAside: state.db.before-restore-1: may hold keys that were destroyed since",
      advice: "rm \(state)/state.db.before-restore-1*"),
  ]

  /// Tries situations one after the other on a machine. In the end all is well.
  private func test(_ situations: [Situation], on machine: Machine) async throws {
    for situation in situations { try await situation.test(on: machine) }
    let doctor = try await machine.run(["sdkctl", "doctor"])
    #expect(doctor.status == 0, "\(doctor)")
  }

  @Test("Faults of the units: doctor names cause and cure, and the cure works as printed")
  func unitSituations() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.createInstance("desk")
      try await test(Self.units, on: machine)
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }

  @Test("Faults of the configuration: doctor names cause and cure, and the cure works as printed")
  func configurationSituations() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await test(Self.configuration, on: machine)
    }
  }

  @Test("Faults of a provider: doctor names cause and cure, and the cure works as printed")
  func providerSituations() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.installProviders()
      try await machine.enableProvider("front-desk", program: Self.program)
      try await machine.signIn("alice", at: "desk", "--provider-unit front-desk")
      try await test(Self.providers, on: machine)
      try await machine.sh("sdkctl refresh desk > /dev/null")
      try await machine.sh(
        """
        printf '[bridge]\\nsame_uid = true\\n' > /etc/sdkd/sdkd.toml.d/bridge.toml
        systemctl reload sdkd.service
        """)
      try await machine.signIn("bob", at: "counter", "--provider-command \(Self.program)")
      try await test(Self.commands, on: machine)
    }
  }

  @Test("Faults of a vendor: doctor names cause and cure, and the cure works as printed")
  func vendorSituations() async throws {
    try await Machine.with { machine in
      try await machine.startSandbox()
      try await machine.signIn("alice", at: "desk")
      try await machine.sh(Self.vendor)
      try await test(Self.vendors, on: machine)
    }
  }

  @Test("Faults of the disk and the state: doctor names cause and cure, and the cure works as printed")
  func stateSituations() async throws {
    try await Machine.with { machine in
      // A disk of its own, of which enough is free for the doctor.
      try await machine.sh(
        """
        systemctl stop \(Self.both)
        mount -t tmpfs -o size=600M,nr_inodes=400,mode=0700,uid=$(id -u sdkd),gid=$(id -g sdkd) tmpfs \(Self.state)
        systemctl start \(Self.both)
        """)
      try await machine.startSandbox()
      try await machine.createInstance("desk")
      try await test(Self.disks, on: machine)
      #expect(try await machine.draft(of: "desk") == "of desk")
    }
  }

  @Test(
    "The commands of an advice are found among its words",
    arguments: [
      ("systemctl start a b", ["systemctl start a b"]),
      ("read why: journalctl -u a; then systemctl start a", ["journalctl -u a", "systemctl start a"]),
      (
        "find out why: dmesg | tail; then: mount -o remount,rw \"$(stat -c %m /x)\"",
        ["dmesg | tail", "mount -o remount,rw \"$(stat -c %m /x)\""]
      ),
      (
        "systemctl cat a shows ExecStart=; install the program, or name another there; sdkctl refresh desk",
        ["systemctl cat a", "sdkctl refresh desk"]
      ),
      ("remove X= from the drop-ins that systemctl cat a shows; systemctl daemon-reload", ["systemctl daemon-reload"]),
      ("correct the rule (sdkctl show desk has all), or add the name", []),
      ("have it added; sdkctl update INSTANCE --access-use … replaces all rules", []),
    ])
  func commandsOfAnAdvice(advice: String, commands: [String]) {
    #expect(Situation.commands(in: advice) == commands)
  }
}
