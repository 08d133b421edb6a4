import Foundation
import Glibc
import JSONRPC
import Testing

/// The signals and descriptors of every program that this package's programs start or become.
@Suite struct StartedProgramTests {
  /// A way in which a program is started.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case exec = "sdkctl exec"
    case ssh = "ssh of sdkctl --host"
    case systemctl = "systemctl of sdkctl doctor"
    case timedatectl = "timedatectl of sdkctl doctor"
    case journalctl = "journalctl of sdkctl logs"
    case curl = "curl of sdkctl doctor"
    case creds = "systemd-creds of sdkctl key init"
    case check = "sdkd of sdkctl config check"
    case restore = "sdkd of sdkctl restore"
    case command = "a token provider with command"
    case unit = "a token provider of sdkd-provider"

    var testDescription: String { rawValue }
    /// The ways that this machine has: `key init` writes to `/etc`, of which only root can have a copy.
    static var possible: [Way] { allCases.filter { $0 != .creds || getuid() == 0 } }
    /// Whether the program stands for the user's command, and so keeps the signals that `sdkctl` was started with.
    var keepsSignals: Bool { self != .command && self != .unit }
  }

  /// The stand-in's report about its own process.
  struct Note: Equatable, CustomStringConvertible {
    var blocked: UInt64
    var ignored: UInt64
    var descriptors: String
    var description: String { "blocked \(blocked), ignored \(ignored), descriptors \(descriptors)" }
  }

  /// Writes a program that notes its signals and descriptors, with nothing but built-ins of the shell: another process
  /// would note its own. The shell's own descriptor of the script, 10, does not count.
  private func standIn(_ name: String, in desk: Desk, then script: String = "exit 1") throws -> String {
    try desk.write(
      name,
      """
      #!/bin/sh
      fds=
      for fd in /proc/$$/fd/*; do
        if [ -e "$fd" ] && [ "${fd##*/}" != 10 ]; then fds="$fds ${fd##*/}"; fi
      done
      while read -r name value; do
        case $name in SigBlk:) blocked=$value ;; SigIgn:) ignored=$value ;; esac
      done </proc/$$/status
      echo "$blocked $ignored$fds" >'\(desk.folder.path)/noted-new'
      mv '\(desk.folder.path)/noted-new' '\(desk.folder.path)/noted'
      \(script)
      """, mode: 0o755
    ).path
  }

  private func note(_ desk: Desk) throws -> Note? {
    guard let text = try? String(contentsOf: desk.folder.appendingPathComponent("noted"), encoding: .utf8) else {
      return nil
    }
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    // The C library's posix_spawn lets every program ignore its two internal signals, 32 and 33.
    let own: UInt64 = ~(Self.bit(32) | Self.bit(33))
    return Note(
      blocked: try #require(UInt64(words[0], radix: 16)), ignored: try #require(UInt64(words[1], radix: 16)) & own,
      descriptors: words.dropFirst(2).joined(separator: " "))
  }

  /// A program that runs another one without the descriptors and signals of the tests. With `odd` the other one blocks
  /// SIGUSR1, ignores SIGHUP and has the descriptor 7.
  private static let caller = """
    import os, signal, sys
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.closerange(3, 65536)
    if sys.argv[1] == "odd":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        os.dup2(os.open("/dev/null", os.O_RDONLY), 7)
    os.execv(sys.argv[2], sys.argv[2:])
    """

  private static func bit(_ signal: Int32) -> UInt64 { 1 << UInt64(signal - 1) }

  /// Starts the stand-in in one way, by programs with a caller that is `plain` or `odd`.
  private func run(_ way: Way, by caller: String) throws -> Note? {
    let before = ["/usr/bin/python3", "-c", Self.caller, caller]
    let desk = try Desk.openWithUnits()
    let line = try desk.connect()
    let path = ["PATH": "\(desk.folder.path)/bin:/usr/bin:/bin"]
    switch way {
    case .exec:
      let program = try standIn("program", in: desk)
      try desk.create("desk", on: line)
      #expect(try desk.sdkctl(["login", "desk"], input: try Vendor.mint("alice")).status == 0)
      _ = try desk.sdkctl(["exec", "desk", "--", program], before: before)
    case .ssh:
      _ = try standIn("bin/ssh", in: desk)
      _ = try desk.sdkctl(["-H", "kiosk", "list"], environment: path, before: before)
    case .systemctl, .timedatectl:
      _ = try standIn("bin/\(way)", in: desk)
      _ = try desk.sdkctl(["doctor", "--system"], environment: path, before: before)
    case .journalctl:
      _ = try standIn("bin/journalctl", in: desk)
      _ = try desk.sdkctl(["logs", "--system"], environment: path, before: before)
    case .curl:
      try desk.create("desk", on: line)
      _ = try standIn("bin/curl", in: desk)
      _ = try desk.sdkctl(["doctor"], environment: path, before: before)
    case .creds:
      _ = try standIn("bin/systemd-creds", in: desk)
      _ = try desk.sdkctl(["key", "init", "--system"], environment: path, before: Self.privateMachine(desk) + before)
    case .check, .restore:
      // sdkctl starts the daemon's program beside it.
      let copy = desk.folder.appendingPathComponent("bin/sdkctl")
      _ = try standIn("bin/sdkd", in: desk)
      // By another program: a file that is open for writing in a child of other tests can't be executed.
      let copying = "cp '\(Program.path("sdkctl"))' '\(copy.path)' && exec \"$@\""
      let words =
        way == .check
        ? ["config", "check", desk.configuration.path] : ["restore", "monday", "--state", desk.state.path]
      _ = try desk.sdkctl(words, before: ["/bin/sh", "-c", copying, "sh"] + before, program: copy.path)
    case .command:
      let program = try standIn("program", in: desk)
      try desk.create("desk", on: line, provider: ["command": [.string(program)]])
      try login(line)
      _ = try line.failure("token.refresh", ["instance": "desk"])
    case .unit:
      let program = try standIn("program", in: desk)
      let unit = try desk.unit("desk", "exit 1", wrapper: [Program.path("sdkd-provider"), program], before: before)
      try desk.create("desk", on: line, provider: ["unit": "desk"])
      try login(line)
      _ = try line.failure("token.refresh", ["instance": "desk"])
      unit.signal(SIGTERM)
    }
    return try note(desk)
  }

  /// A command that runs another one with copies of `/etc` and `/var/lib`.
  private static func privateMachine(_ desk: Desk) -> [String] {
    let etc = "\(desk.folder.path)/etc"
    return [
      "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
      "mkdir '\(etc)' && cp -a /etc/. '\(etc)' && mount --bind '\(etc)' /etc && mount -t tmpfs tmpfs /var/lib && exec \"$@\"",
      "sh",
    ]
  }

  private func login(_ line: Line) throws {
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
  }

  @Test("A started program blocks and ignores no signal, and has three descriptors", arguments: Way.possible)
  func clean(_ way: Way) throws {
    let note = try run(way, by: "plain")
    #expect(note == Note(blocked: 0, ignored: 0, descriptors: "0 1 2"))
  }

  @Test(
    "A program in place of the user's command keeps the signals of sdkctl's caller; a provider does not",
    arguments: Way.possible)
  func inherited(_ way: Way) throws {
    let signals: (UInt64, UInt64) = way.keepsSignals ? (Self.bit(SIGUSR1), Self.bit(SIGHUP)) : (0, 0)
    // exec is the one way in which sdkctl becomes the program, so the caller's descriptors are the program's.
    let descriptors = way == .exec ? "0 1 2 7" : "0 1 2"
    let note = try run(way, by: "odd")
    #expect(note == Note(blocked: signals.0, ignored: signals.1, descriptors: descriptors))
  }

  @Test("SIGTERM ends a program that sdkctl exec has started")
  func terminated() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    #expect(try desk.sdkctl(["login", "desk"], input: try Vendor.mint("alice")).status == 0)
    let marker = desk.folder.appendingPathComponent("running")
    let program = try Program(
      "sdkctl", ["exec", "desk", "--", "/bin/sh", "-c", "echo >'\(marker.path)'; exec sleep 60"],
      environment: ["SDKD_SOCKET": desk.socket], output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("exec.log"))
    try eventually("the program runs") { FileManager.default.fileExists(atPath: marker.path) }
    program.signal(SIGTERM)
    #expect(program.exit(within: 30) == 128 + SIGTERM)
  }

  /// Returns the signals that a process blocks and ignores; `nil` without such a process. SIGHUP, which the daemon
  /// ignores until it is ready to reload, does not count.
  private static func signals(of pid: pid_t) -> [UInt64]? {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    let values = ["SigBlk:", "SigIgn:"].compactMap { name in
      text.split(separator: "\n").first { $0.hasPrefix(name) }
        .flatMap { UInt64($0.dropFirst(name.count).trimmingCharacters(in: .whitespaces), radix: 16) }
    }
    return values.count == 2 ? values.map { $0 & ~bit(SIGHUP) } : nil
  }

  @Test(
    "A daemon that starts itself anew has the signals of its first start",
    .enabled(if: getuid() == 0, "needs root to start a daemon of another user"))
  func restart() throws {
    let desk = try Desk.open()
    desk.stop()
    guard chown(desk.folder.path, 65534, 65534) == 0 else { throw Program.Failure(description: "chown") }
    try desk.giveState(to: 65534)
    chmod(desk.state.path, 0o500)
    try desk.start(environment: ["STATE_DIRECTORY": desk.state.path], uid: 65534)
    let pid = try #require(desk.daemon?.pid)
    let first = try #require(Self.signals(of: pid))
    chmod(desk.state.path, 0o700)
    try eventually("the daemon has started anew", within: 60) {
      guard let line = try? desk.connect() else { return false }
      return (try? line.call("instance.list")) != nil
    }
    try eventually("the signals are as before") { Self.signals(of: pid) == first }
    #expect(desk.stop() == 0)
  }
}
