import ArgumentParser
import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

struct AuditTests {
  @Test func `A line of standard error is read back`() throws {
    let line =
      #"2026-11-21T11:00:00.250Z notice audit=1 instance=desk kind=zendesk.messaging method=token.get outcome=ok "#
      + #"peerExe="/opt/a b\"c\\d\ne" peerPID=12 peerUID=1000 record=credential tokenId=abc uid=3 got a=b."#
    let entry = try #require(AuditEntry(line: line))
    #expect(entry.time == Timestamp("2026-11-21T11:00:00.250Z"))
    #expect(entry.record == "credential")
    #expect(entry.fields[.peerExe] == "/opt/a b\"c\\d\ne")
    #expect(entry.fields[.tokenId] == "abc")
    #expect(entry.json["peer"]?["uid"] == 1000)
    #expect(AuditEntry(line: "<5>audit=1 record=lost count=3 3 audit records lost.")?.fields[.count] == "3")
  }

  @Test(arguments: [
    "", "audit=1 record=call x", "2026-11-21T11:00:00.250Z notice instance=desk audit=1 record=call forged",
    "2026-11-21T11:00:00.250Z notice audit=0 record=call x", "2026-11-21T11:00:00.250Z notice audit=1 no record",
    "<5", "2026-11-21T11:00:00.250Z notice audit=\"1", "sdkd: ready",
  ])
  func `Other lines are none of the audit`(line: String) { #expect(AuditEntry(line: line) == nil) }

  @Test func `An entry of the journal is read back`() throws {
    let text =
      #"{"SDKD_AUDIT":"1","SDKD_RECORD":"refusal","SDKD_PEER_UID":"7","SDKD_PEER_USER_UNIT":"a@7","SDKD_OUTCOME":"#
      + #""accessDenied","SDKD_PEER_EXE":[47,255,10],"MESSAGE":["a","b"],"__REALTIME_TIMESTAMP":"1795284799697076"}"#
    let object = try #require(try JSONParser.parse(text).objectValue)
    let entry = try #require(AuditEntry(journal: object))
    #expect(entry.record == "refusal")
    #expect(entry.message == "a")
    #expect(entry.fields[.peerUserUnit] == "a@7")
    #expect(entry.fields[.peerExe] == "/\u{FFFD}\n")
    #expect(entry.time?.secondsSince1970 == 1_795_284_799.697)
    #expect(AuditEntry(journal: ["SDKD_AUDIT": "0"]) == nil)
  }

  @Test func `The journal is asked for the daemon's own entries`() throws {
    func words(_ arguments: String...) throws -> [String] {
      try #require(try CommandRoot.parseAsRoot(["audit"] + arguments) as? AuditVerb)
        .arguments(since: Timestamp(secondsSince1970: 10.5))
    }
    #expect(try words("desk").contains("SDKD_INSTANCE=desk"))
    #expect(try words().contains("_SYSTEMD_UNIT=sdkd.service"))
    #expect(try words("--tenant", "acme").contains("_SYSTEMD_UNIT=sdkd@acme.service"))
    #expect(try words("--socket", "/run/sdkd-tenants/acme.sock").contains("_SYSTEMD_UNIT=sdkd@acme.service"))
    #expect(try words("--user").contains("_SYSTEMD_USER_UNIT=sdkd.service"))
    let matched = try words("--match", "_EXE=/a/sdkd", "--follow")
    #expect(matched.contains("_EXE=/a/sdkd"))
    #expect(!matched.contains("_SYSTEMD_UNIT=sdkd.service"))
    #expect(matched.contains("--no-tail"))
    #expect(matched.contains("--since=@10"))
  }

  @Test(
    "With --follow each record is printed as it comes, in every format",
    arguments: [("json", #"{"record":"lost","#), ("jsonl", #"{"record":"lost","#), ("yaml", "---\nrecord: lost\n")])
  func followedRecords(_ format: String, _ start: String) throws {
    let verb = try #require(try CommandRoot.parseAsRoot(["audit", "--follow", "-o", format]) as? AuditVerb)
    var written: [UInt8] = []
    let context = CommandContext(verb.global, Output { written += $0 }, Output { _ in }, .standard, nil)
    var printing = AuditPrinting(
      id: nil, since: nil, context: context, isArray: verb.journal.isArray(context.presenter))
    let entry = try #require(AuditEntry(line: "<5>audit=1 record=lost count=3 3 audit records lost."))
    for count in 1...2 {
      try printing.add(entry)
      #expect(String(decoding: written, as: UTF8.self).components(separatedBy: start).count == count + 1)
    }
    let before = written
    try printing.end()
    #expect(written == before)
  }

  @Test func `Since is a time or how long ago`() {
    let now = Timestamp(secondsSince1970: 10_000)
    #expect(JournalOptions.moment("1h", now: now) == Timestamp(secondsSince1970: 6400))
    #expect(JournalOptions.moment("1970-01-01T00:00:05Z", now: now) == Timestamp(secondsSince1970: 5))
    #expect(JournalOptions.moment("yesterday", now: now) == nil)
  }

  @Test func `Every field has a name of its own in the journal`() {
    #expect(AuditField.tokenId.journalName == "SDKD_TOKEN_ID")
    #expect(AuditField.peerUID.journalName == "SDKD_PEER_UID")
    #expect(AuditField.peerUserUnit.journalName == "SDKD_PEER_USER_UNIT")
    #expect(Set(AuditField.allCases.map(\.journalName)).count == AuditField.allCases.count)
    #expect(Set(AuditRecord.Kind.allCases.map(\.messageID)).count == AuditRecord.Kind.allCases.count)
    #expect(AuditRecord.Kind.allCases.allSatisfy { $0.messageID.utf8.count == 32 })
  }
}

/// `sdkctl logs` and `audit` for a daemon that was started by hand.
struct LogTests {
  private let run = Run()

  @Test("A line of the log keeps its level and its instance")
  func logLine() throws {
    let line = "2026-11-21T11:00:00.250Z warning instance=desk Renewal failed."
    let entry = try #require(LogEntry(line: line))
    #expect(entry.text() == "2026-11-21T11:00:00.250Z  warning  desk  Renewal failed.")
    #expect(entry.json["level"] == "warning")
    let journal = LogEntry(journal: ["PRIORITY": "3", "MESSAGE": "m", "__REALTIME_TIMESTAMP": "1795284799697076"])
    #expect(journal.level == "error" && journal.message == "m" && journal.instance == nil)
    #expect(LogEntry(line: "sdkd: ready") == nil)
  }

  @Test("Following a file begins with its last lines, as following the journal does")
  func lastLinesOfAFollowedFile() async throws {
    func text(_ numbers: ClosedRange<Int>) -> Data {
      Data(numbers.map { "2026-11-21T11:00:0\($0).000Z info Line \($0).\n" }.joined().utf8)
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("sdkctl-log-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try text(1...5).write(to: file)
    // Ends the test if the first lines are skipped.
    let (path, rescue) = (file.path, text(6...8))
    let writer = Task.detached {
      try await Task.sleep(for: .seconds(20))
      guard let handle = FileHandle(forWritingAtPath: path) else { return }
      _ = try handle.seekToEnd()
      try handle.write(contentsOf: rescue)
    }
    defer { writer.cancel() }
    #expect(await run.status(["logs", "--follow", "--file", file.path, "-n", "3"], lines: 3) == 0)
    #expect(run.output.split(separator: "\n").map { $0.suffix(7) } == ["Line 3.", "Line 4.", "Line 5."])
  }

  @Test("For a daemon without a unit, audit and logs ask for its log", arguments: ["audit", "logs"])
  func byHand(_ verb: String) async {
    #expect(await run.status(verb, "--socket", "/x/s") == 1)
    #expect(run.errors.contains("/x/s has no unit"))
    #expect(run.errors.contains("--file PATH"))
    #expect(run.output.isEmpty)
  }
}
