import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl doctor` and `config check` on machines with faults. Where a test can type the advice, it does, and looks again.
@Suite(.enabled(if: getuid() == 0, "needs root to change what belongs to others"))
struct DoctorMachineTests {
  struct Found: Equatable {
    var status: String
    var message: String
    var advice: String
  }

  private func findings(_ run: Desk.CommandRun) throws -> [String: Found] {
    var found: [String: Found] = [:]
    for finding in try JSONParser.parse(run.output).arrayValue ?? [] {
      found[finding["check"]?.stringValue ?? "?"] = Found(
        status: finding["status"]?.stringValue ?? "", message: finding["message"]?.stringValue ?? "",
        advice: finding["advice"]?.stringValue ?? "")
    }
    return found
  }

  // MARK: Units

  /// Runs the doctor on a machine whose systemd prints the given properties.
  ///
  /// - Parameter first: a command of the shell that systemd runs before it answers.
  private func findings(service: String, socket: String, first: String = ":") throws -> [String: Found] {
    let desk = try Desk()
    try desk.write("sdkd.service", service)
    try desk.write("sdkd.socket", socket)
    let script = "#!/bin/sh\ncd '\(desk.folder.path)' && \(first) && cat \"$2\" && echo && cat \"$3\"\n"
    try desk.write("bin/systemctl", script, mode: 0o755)
    let path = "\(desk.folder.path)/bin:/usr/bin:/bin"
    return try findings(
      desk.sdkctl(["doctor", "--system", "-o", "json"], environment: ["PATH": path, "SDKD_SOCKET": ""]))
  }

  private static let running = "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\n"
  private static let stopped = "LoadState=loaded\nActiveState=inactive\nSubState=dead\nUnitFileState=enabled\n"
  private static let masked = "LoadState=masked\nActiveState=inactive\nSubState=dead\nUnitFileState=masked\n"
  private static let start = "systemctl start sdkd.socket sdkd.service"

  /// The states of service and socket, and what the check says and advises.
  static let units: [(service: String, socket: String, check: String, status: String, says: String, advice: String)] = [
    (running, running, "unit", "ok", "sdkd.service is active (running), 0 restarts.", ""),
    (stopped, stopped, "unit", "failing", "sdkd.socket and sdkd.service are stopped.", start),
    (running, stopped, "unit", "failing", "sdkd.socket is stopped.", start),
    (
      stopped, running, "unit", "warning", "sdkd.service is stopped, so that no token is renewed.", start(of: "service")
    ),
    (
      masked, running, "unit", "failing", "sdkd.service is masked: nothing can start it.",
      "systemctl unmask sdkd.service; \(start)"
    ),
    (
      running, masked, "unit", "failing", "sdkd.socket is masked: nothing can start it.",
      "systemctl unmask sdkd.socket; \(start)"
    ),
    (
      masked, masked, "unit", "failing", "sdkd.socket and sdkd.service are masked: nothing can start them.",
      "systemctl unmask sdkd.socket sdkd.service; \(start)"
    ),
    (
      "LoadState=loaded\nActiveState=activating\nSubState=auto-restart\n", running, "unit", "warning",
      "sdkd.service is activating (auto-restart), 0 restarts.", "read why: journalctl -u sdkd.service"
    ),
    (
      "LoadState=loaded\nActiveState=deactivating\nSubState=stop-post\n", running, "unit", "warning",
      "sdkd.service is deactivating (stop-post), 0 restarts.", "read why: journalctl -u sdkd.service"
    ),
    (
      "LoadState=loaded\nActiveState=reloading\nSubState=reload\n", running, "unit", "ok",
      "sdkd.service is reloading (reload), 0 restarts.", ""
    ),
    (
      running.replacing("enabled", with: "disabled"), running, "boot", "warning", "sdkd.service is disabled",
      "systemctl enable sdkd.service"
    ),
    (
      running.replacing("enabled", with: "disabled"), running.replacing("enabled", with: "disabled"), "boot", "warning",
      "sdkd.socket and sdkd.service are disabled: after a boot no client can connect.",
      "systemctl enable sdkd.socket sdkd.service"
    ),
  ]

  private static func start(of ending: String) -> String { "systemctl start sdkd.\(ending)" }

  @Test(
    "A limit of descriptors in a drop-in is named while the daemon can't run with it", arguments: [64, 512, 65_536])
  func descriptorsOfTheUnit(limit: Int) throws {
    let found = try findings(service: "\(Self.stopped)LimitNOFILESoft=\(limit)\n", socket: Self.running)
    let finding = found["descriptors"]
    #expect(finding?.status == (limit < 4096 ? "failing" : nil))
    #expect(finding?.message.hasPrefix("The daemon may open \(limit) files.") != false)
    #expect(finding?.advice.contains("systemctl cat sdkd.service") != false)
  }

  @Test("Stopped, masked and disabled units are named with the command that helps", arguments: units.indices)
  func unitStates(index: Int) throws {
    let row = Self.units[index]
    let found = try findings(service: row.service + "NRestarts=0\n", socket: row.socket + "NRestarts=0\n")
    let finding = try #require(found[row.check], "\(found)")
    #expect(finding.status == row.status && finding.message.hasPrefix(row.says), "\(finding)")
    #expect(finding.advice == row.advice)
    if row.check == "unit", row.status == "failing" {
      // No other check gives advice that can't work.
      #expect(found["socket"]?.advice == row.advice && found["daemon"]?.advice == row.advice, "\(found)")
    }
  }

  @Test("systemd may take its time to answer; without an answer the doctor says so")
  func slowSystemd() throws {
    let slow = try findings(service: Self.stopped, socket: Self.stopped, first: "sleep 1")
    #expect(slow["unit"]?.advice == Self.start && slow["daemon"]?.advice == Self.start, "\(slow)")

    let mute = try findings(service: Self.stopped, socket: Self.stopped, first: "exec sleep 600")
    #expect(mute["unit"]?.status == "warning", "\(mute)")
    #expect(mute["unit"]?.message == "systemd did not say how the daemon's units are: it took too long.", "\(mute)")
  }

  // MARK: Configuration

  /// A script that runs a command on a machine whose `/etc` is the test's own, with a user `sdkd`.
  private static let machine = """
    set -eu
    folder=$1 fault=$2; shift 2
    mkdir -p "$folder/etc"
    cp -a /etc/passwd /etc/group /etc/ld.so.cache "$folder/etc/" 2>/dev/null || true
    mount --bind "$folder/etc" /etc
    grep -q '^sdkd:' /etc/passwd || echo 'sdkd:x:64990:64990::/:/usr/sbin/nologin' >>/etc/passwd
    grep -q '^sdkd:' /etc/group || echo 'sdkd:x:64990:' >>/etc/group
    mkdir -p /etc/sdkd/instances.d
    echo '[limits]' >/etc/sdkd/sdkd.toml
    cat >/etc/sdkd/instances.d/desk.toml <<'END'
    id = "desk"
    kind = "zendesk.messaging"
    [settings]
    app_id = "5f0000000000000000000001"
    base_url = "https://example.zendesk.com"
    END
    chgrp -R sdkd /etc/sdkd
    chmod 751 /etc/sdkd
    chmod 750 /etc/sdkd/instances.d
    chmod 640 /etc/sdkd/sdkd.toml /etc/sdkd/instances.d/desk.toml
    sh -c "$fault"
    "$@" || true
    """

  /// Changes that root makes to the configuration, each with the path that the advice names.
  static let faults = [
    ("chown root:root /etc/sdkd; chmod 700 /etc/sdkd", "/etc/sdkd"),
    ("chown root:root /etc/sdkd/sdkd.toml; chmod 600 /etc/sdkd/sdkd.toml", "/etc/sdkd/sdkd.toml"),
    ("chgrp root /etc/sdkd/instances.d; chmod 700 /etc/sdkd/instances.d", "/etc/sdkd/instances.d"),
    (
      "chgrp root /etc/sdkd/instances.d/desk.toml; chmod 600 /etc/sdkd/instances.d/desk.toml",
      "/etc/sdkd/instances.d/desk.toml"
    ),
  ]

  @Test("Root finds what the daemon's user can't read, and the advice makes it readable", arguments: faults.indices)
  func unreadableConfiguration(index: Int) throws {
    let (fault, path) = Self.faults[index]
    let desk = try Desk()
    func check(_ fault: String, _ words: [String]) throws -> Desk.CommandRun {
      let before = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", Self.machine, "sh", desk.folder.path, fault]
      return try desk.sdkctl(words, environment: ["SDKD_SOCKET": ""], before: before)
    }
    let good = try check("true", ["config", "check", "--system"])
    #expect(good.output.contains("1 instance, no mistakes"), "\(good.output)\(good.error)")
    let bad = try check(fault, ["config", "check", "--system"])
    let match = try #require(bad.output.firstMatch(of: /Let the daemon read it: (.*)/), "\(bad.output)\(bad.error)")
    let advice = String(match.1)
    #expect(advice.contains("sdkd \(path);"), "\(advice)")
    let mended = try check("\(fault); \(advice)", ["config", "check", "--system"])
    #expect(mended.output.contains("1 instance, no mistakes"), "\(advice): \(mended.output)\(mended.error)")
    let doctor = try findings(check(fault, ["doctor", "--system", "-o", "json"]))
    #expect(doctor["configuration"]?.status == "failing", "\(doctor)")
    #expect(doctor["configuration"]?.message.contains(advice) == true, "\(doctor)")
  }

  // MARK: State

  private func run(_ advice: String, _ desk: Desk) throws {
    let program = try Program(
      "/bin/sh", ["-c", advice], output: desk.folder.appendingPathComponent("advice.out"),
      log: desk.folder.appendingPathComponent("advice.err"))
    #expect(program.exit(within: 30) == 0, "\(advice): \(program.logText)")
  }

  /// Changes to the state of a running daemon, each with a part of what the doctor says.
  static let stateFaults = [
    ("chown 65534 state.db", "belongs to another user than"), ("chown 65534 backups", "belongs to another user than"),
    ("chmod 400 state.db", "its mode forbids that"), ("chmod 000 root.key", "its mode forbids that"),
  ]

  @Test("A state that the daemon can't use is named, and the advice mends it", arguments: stateFaults.indices)
  func stateFiles(index: Int) throws {
    let (fault, says) = Self.stateFaults[index]
    let desk = try Desk.open()
    #expect(try desk.sdkctl(["backup", "one"]).status == 0)
    func state() throws -> Found? { try findings(desk.sdkctl(["doctor", "-o", "json"]))["state"] }
    #expect(try state() == nil)
    try run("cd '\(desk.state.path)' && \(fault)", desk)
    let found = try #require(try state())
    #expect(found.status == "failing" && found.message.contains(says), "\(found)")
    try run(found.advice, desk)
    #expect(try state() == nil)
  }

  @Test("A missing and a wrong key of the state are told apart")
  func keys() throws {
    let desk = try Desk.open()
    func key() throws -> Found? { try findings(desk.sdkctl(["doctor", "-o", "json"]))["key"] }
    #expect(try key()?.status == "ok")
    let file = desk.state.appendingPathComponent("root.key")
    let kept = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    #expect(try key()?.message.contains("is missing") == true)
    #expect(try key()?.status == "failing" && key()?.advice == "put \(file.path) back")
    try Data(kept.reversed()).write(to: file)
    chmod(file.path, 0o600)
    #expect(try key()?.message.contains("is not the key that the state is sealed with") == true)
    try kept.write(to: file)
    chmod(file.path, 0o600)
    #expect(try key()?.status == "ok")
  }

  @Test("A daemon with few descriptors, a read-only disk and a machine without a time service are named")
  func machine() throws {
    let desk = try Desk()
    try desk.start(descriptors: 512)
    let clock = "#!/bin/sh\nprintf 'NTPSynchronized=no\\nCanNTP=%s\\n' \"$(cat '\(desk.folder.path)/can')\"\n"
    try desk.write("bin/timedatectl", clock, mode: 0o755)
    let mount =
      "mount --bind '\(desk.state.path)' '\(desk.state.path)' && mount -o remount,bind,ro '\(desk.state.path)'"
    for (can, advice) in [("no", "apt install systemd-timesyncd"), ("yes", "timedatectl set-ntp true")] {
      try desk.write("can", can)
      let found = try findings(
        desk.sdkctl(
          ["doctor", "-o", "json"], environment: ["PATH": "\(desk.folder.path)/bin:/usr/bin:/bin"],
          before: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", "\(mount) && exec \"$@\"", "sh"]))
      #expect(found["clock"]?.advice == advice, "\(found)")
      #expect(found["disk"]?.message.contains("is mounted read-only") == true, "\(found)")
      #expect(found["descriptors"]?.message.hasPrefix("The daemon may open 512 files.") == true, "\(found)")
    }
  }
}
