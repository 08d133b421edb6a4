import Foundation
import Glibc
import JSONRPC
import Testing

/// The audit log, written by the real daemon for processes of several users and read back by `sdkctl audit`.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct AuditTests {
  /// Returns a line for each record: its kind, its method, event or question, its uid and its outcome; `-` for a
  /// missing one.
  private func words(_ records: [JSON]) -> [String] {
    records.map { record in
      let what = (record["method"] ?? record["event"] ?? record["question"])?.stringValue ?? "-"
      let uid = record["peer"]?["uid"]?.intValue.map(String.init) ?? "-"
      return "\(record["record"]?.stringValue ?? "-") \(what) \(uid) \(record["outcome"]?.stringValue ?? "-")"
    }
  }

  @Test func whoDidWhatIsWrittenWhateverTheLevelAndNoSecretWith() throws {
    let desk = try Desk.open(configuration: "[log]\nlevel = \"error\"\n")
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
      provider: try desk.mintingProvider(), access: ["use": ["uid:1001", "uid:1002"]])
    let jwt = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    try desk.calls(uid: 1001, "token.get", ["instance": "desk"], times: 3)
    try desk.calls(uid: 1002, "token.get", ["instance": "desk"])
    try desk.calls(uid: 1003, "token.get", ["instance": "desk"], times: 5)
    try desk.calls(uid: 1001, "messaging.logoutUser", ["instance": "desk"])
    let fresh = try desk.calls(uid: 1002, "token.refresh", ["instance": "desk"]).first?["result"]?["token"]
    // This logout comes without a call: the provider denies every token (exit status 77).
    try desk.create(
      "guest", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("exit 77", name: "no"))
    let short = try Vendor.mint("bob", ttl: Vendor.shortLife)
    try line.call("messaging.loginUser", ["instance": "guest", "jwt": .string(short)])
    try eventually("the token has ended") {
      (try? line.failure("token.get", ["instance": "guest"]))?.reason == "providerDenied"
        || (try? line.call("instance.get", ["instance": "guest"]))?["state"] == "loggedOut"
    }
    #expect(desk.stop() == 0)

    let all = try desk.audit(["--file", desk.firstLog])
    #expect(all.status == 0, "\(all.error)")
    let told = words(all.records)
    for expected in [
      "call instance.create 0 ok", "definition instanceCreated - ok", "call messaging.loginUser 0 ok",
      "identity userLoggedIn - ok", "credential token.get 1001 ok", "credential token.get 1002 ok",
      "refusal token.get 1003 instanceNotFound", "refusal messaging.logoutUser 1001 accessDenied",
      "credential token.refresh 1002 ok", "provider getToken - ok", "provider invalidAuth - providerDenied",
      "identity userLoggedOut - ok",
    ] {
      #expect(told.contains(expected), "\(expected) of \(told)")
    }
    let out = all.records.first { $0["event"] == "userLoggedOut" }
    #expect(out?["cause"] == "implicit")
    #expect(out?["user"] == "bob")
    #expect(out?["instance"] == "guest")
    let first = all.records.first { $0["record"] == "credential" && $0["peer"]?["uid"] == 1001 }
    #expect(first?["peer"]?["exe"]?.stringValue?.contains("python") == true)
    #expect(first?["tokenId"]?.stringValue?.count == 16)
    #expect(first?["kind"] == "zendesk.messaging")
    // The other reads were counted. Their counts were written, at the latest when the daemon stopped.
    let counts = all.records.filter { $0["count"] != nil }
    #expect(counts.first { $0["peer"]?["uid"] == 1001 && $0["record"] == "credential" }?["count"] == 2)
    #expect(counts.first { $0["peer"]?["uid"] == 1003 }?["count"] == 4)
    let run = all.records.first { $0["record"] == "provider" && $0["exit"] == "77" }
    #expect(run?["provider"]?.stringValue?.hasSuffix("/no") == true)

    let own = try desk.audit(["guest", "--file", desk.firstLog]).records
    #expect(!own.isEmpty && own.allSatisfy { $0["instance"] == "guest" })
    #expect(try desk.audit(["--since", "2100-01-01T00:00:00Z", "--file", desk.firstLog]).records.isEmpty)
    for secret in [jwt, short, fresh?.stringValue ?? jwt] {
      #expect(!desk.logs.contains(secret))
      #expect(!desk.logs.contains(secret.split(separator: ".").last.map(String.init) ?? secret))
    }
  }

  @Test("The audit tells the rules after a change, and has a record for each instance of an attach")
  func rulesAndDelegates() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    for id in ["desk", "other"] { try desk.create(id, on: line) }
    try line.call("instance.update", ["instance": "desk", "access": ["use": ["user:bob"]]])
    try line.call("delegate.attach", ["instances": ["desk", "other"]])
    try line.call("delegate.detach", ["instances": ["other"]])
    _ = try line.failure("delegate.attach", ["instances": ["nosuch"]])
    #expect(desk.stop() == 0)
    let all = try desk.audit(["--file", desk.firstLog]).records
    let update = all.first { $0["event"] == "instanceUpdated" }
    #expect(update != nil, "\(all.map(JSONWriter.text))")
    #expect(update?["rules"] == "{\"use\":[\"user:bob\"]}")
    #expect(update?["changed"] == "access")
    func instances(_ method: JSON, _ record: JSON) -> [JSON?] {
      all.filter { $0["method"] == method && $0["record"] == record }.map { $0["instance"] }
    }
    #expect(instances("delegate.attach", "call") == ["desk", "other"])
    #expect(all.contains { $0["message"]?.stringValue?.hasSuffix("called delegate.attach of other: ok.") == true })
    #expect(instances("delegate.detach", "call") == ["other"])
    #expect(instances("delegate.attach", "refusal") == ["nosuch"])
    #expect(all.allSatisfy { $0["method"] != "delegate.attach" || $0["instance"] == "nosuch" || $0["kind"] != nil })
    let text = try desk.sdkctl(["audit", "other", "--file", desk.firstLog]).output.split(separator: "\n")
    #expect(text.first == "TIME  RECORD  CALLER  WHAT  INSTANCE  OUTCOME  DETAILS")
    #expect(text.contains { $0.contains("  uid 0 root ") && $0.contains("  delegate.attach  other  ok") }, "\(text)")
  }

  @Test func tenThousandReadsAreOneRecordAndACount() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, access: ["use": ["uid:1001"]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    var count = 0
    let ids = (0..<10_000).map { _ in line.begin("token.get", ["instance": "desk"]) }
    for id in ids where try line.answer(id)["result"] != nil { count += 1 }
    #expect(count == 10_000)
    #expect(desk.stop() == 0)
    let records = try desk.audit(["--file", desk.firstLog]).records.filter { $0["record"] == "credential" }
    #expect(records.map { $0["count"] } == [nil, 9999])
  }

  @Test("A loop of sdkctl token writes one record and a count, however many processes it starts")
  func aLoopOfProcessesIsOneRecord() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    for number in 0..<6 {
      let program = try Program(
        "sdkctl", ["--socket", desk.socket, "token", "desk"], output: desk.folder.appendingPathComponent("t\(number)"),
        log: desk.folder.appendingPathComponent("e\(number)"))
      #expect(program.exit(within: 60) == 0, "\(program.logText)")
    }
    #expect(desk.stop() == 0)
    let records = try desk.audit(["--file", desk.firstLog]).records.filter { $0["record"] == "credential" }
    #expect(records.map { $0["count"] } == [nil, 5])
    #expect(records.first?["peer"]?["exe"]?.stringValue?.hasSuffix("/sdkctl") == true)
  }

  @Test func whatTheJournalDoesNotTakeIsCountedAndAudited() throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent("journal").path
    let journal = try Datagrams(path)
    try desk.start(environment: ["SDKD_JOURNAL_SOCKET": path], waits: false)
    try eventually("the daemon answers", within: 60) { (try? desk.connect()) != nil }
    let line = try desk.connect()
    // The test does not read the journal's socket until all calls have been made.
    let total = 30_000
    var sent = 0
    while sent < total {
      let ids = (0..<100).map { _ in line.begin("delegate.detach") }
      for id in ids { _ = try line.answer(id) }
      sent += ids.count
    }
    var written = 0
    var lost = 0
    var seen = 0
    try eventually("every record is there or counted", within: 60) {
      let all = journal.received
      for entry in all[seen...] {
        if entry.contains("SDKD_METHOD=delegate.detach\n"), entry.contains("SDKD_AUDIT=1\n") { written += 1 }
        guard entry.contains("audit records lost") else { continue }
        #expect(entry.contains("SDKD_AUDIT=1\n") && entry.contains("SDKD_RECORD=lost\n"))
        let count = entry.split(separator: "\n").first { $0.hasPrefix("SDKD_COUNT=") }?.dropFirst(11)
        lost += count.flatMap { Int($0) } ?? 0
      }
      seen = all.count
      return written + lost >= total
    }
    #expect(written + lost == total)
    #expect(lost > 0)
    #expect(try line.call("daemon.info")["name"] == "sdkd")
  }

  @Test(
    .enabled(
      if: access("/lib/systemd/systemd-journald", X_OK) == 0 && access("/usr/bin/journalctl", X_OK) == 0,
      "needs systemd-journald"))
  func aRealJournalIsReadAndForgeriesAreNot() throws {
    let desk = try Desk()
    // A separate journald in a mount namespace of its own, with an empty `/run`.
    let script = """
      #!/bin/sh
      mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal /run/log/journal
      chgrp systemd-journal /run/log/journal; chmod 2755 /run/log/journal
      exec /lib/systemd/systemd-journald
      """
    let starter = try desk.write("journald", script, mode: 0o755)
    let journald = try Program(
      "/usr/bin/unshare", ["-m", starter.path], output: desk.folder.appendingPathComponent("journald.out"),
      log: desk.folder.appendingPathComponent("journald.err"))
    let root = "/proc/\(journald.pid)/root/run"
    let socket = "\(root)/systemd/journal/socket"
    try eventually("journald listens", within: 30) { FileManager.default.fileExists(atPath: socket) }
    try desk.start(environment: ["SDKD_JOURNAL_SOCKET": socket], waits: false)
    try eventually("the daemon answers", within: 60) { (try? desk.connect()) != nil }
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    try desk.calls(uid: 1003, "token.get", ["instance": "desk"])
    // Any process may write any field except the journal's trusted fields, which begin with `_`.
    let forgery = try desk.write(
      "forge",
      "#!/bin/sh\npython3 -c \"import socket,sys; s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.connect(sys.argv[1]); "
        + "s.send(b'MESSAGE=x\\nSDKD_AUDIT=1\\nSDKD_RECORD=call\\nSDKD_INSTANCE=forged\\n')\" \"$1\"\n", mode: 0o755)
    let forger = try Program(
      forgery.path, [socket], output: desk.folder.appendingPathComponent("forge.out"),
      log: desk.folder.appendingPathComponent("forge.err"))
    #expect(forger.exit(within: 30) == 0, "\(forger.logText)")
    let daemon = URL(fileURLWithPath: Program.path("sdkd")).resolvingSymlinksInPath().path
    let place = ["--directory", "\(root)/log/journal"]
    let mine = place + ["--match", "_EXE=\(daemon)"]
    var told: [String] = []
    try eventually("the refusal is in the journal", within: 30) {
      told = words(try desk.audit(mine).records)
      return told.contains("refusal token.get 1003 instanceNotFound")
    }
    #expect(told.contains("call messaging.loginUser 0 ok"))
    #expect(told.contains("identity userLoggedIn - ok"))
    #expect(try desk.audit(mine).records.allSatisfy { $0["instance"] != "forged" && $0["time"]?.stringValue != nil })
    // The forged entry is in the journal: it shows without the match on the daemon's executable.
    let any = try desk.audit(place + ["--match", "_TRANSPORT=journal"]).records
    #expect(any.contains { $0["instance"] == "forged" })
    #expect(try desk.audit(["forged"] + mine).records.isEmpty)
    // The error for a user without access to the journal names the group `systemd-journal`.
    let denied = try deniedAudit(desk, inside: journald)
    #expect(denied.contains("systemd-journal"), "\(denied)")
    desk.stop()
  }

  @Test("Who can't read the system's journal is told so, also when journalctl has nothing to say")
  func aSilentJournal() throws {
    let desk = try Desk()
    let program = try desk.write("programs/journalctl", "#!/bin/sh\nexit 0\n").path
    for path in [desk.folder.path, desk.folder.path + "/programs", program] { chmod(path, 0o755) }
    for verb in ["audit", "logs"] {
      let run = try desk.sdkctl(
        [verb, "--system"], environment: ["PATH": desk.folder.path + "/programs:/usr/bin:/bin"],
        before: ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
      #expect(run.status == 4 && run.error.contains("systemd-journal"), "\(run)")
    }
  }

  @Test func withoutAJournalThatIsSaid() throws {
    let desk = try Desk()
    let missing = try desk.audit([], environment: ["PATH": "/nonexistent"])
    #expect(missing.status == 1)
    #expect(missing.error.contains("journalctl can't be run"))
    let failing = try desk.audit(["--directory", "/nonexistent"])
    #expect(failing.status == 1)
    #expect(failing.error.contains("No such file"))
    #expect(try desk.audit(["--file", "/nonexistent"]).error.contains("can't be read"))
    #expect(try desk.audit(["--since", "yesterday"]).status == 2)
  }

  /// Runs `sdkctl audit` as a user without access to the journal, expects exit status 4, and returns the error output.
  private func deniedAudit(_ desk: Desk, inside journald: Program) throws -> String {
    let program = try Program(
      "/usr/bin/nsenter",
      [
        "-t", "\(journald.pid)", "-m", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
        Program.path("sdkctl"), "audit", "--directory", "/run/log/journal",
      ], output: desk.folder.appendingPathComponent("denied.out"), log: desk.folder.appendingPathComponent("denied.err")
    )
    #expect(program.exit(within: 30) == 4)
    return program.logText
  }
}
