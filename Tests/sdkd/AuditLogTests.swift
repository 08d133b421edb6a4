import SDKProtocol
import Testing

@testable import Systemd
@testable import sdkd

struct AuditLogTests {
  @Test func `A record becomes the fields that the contract names`() {
    let all = Dictionary(uniqueKeysWithValues: AuditField.allCases.map { ($0, "v-\($0.rawValue)") })
    let record = AuditLog.logRecord(AuditRecord(.refusal, "A sentence.", all))
    let fields = JournalEntry.fields(of: record, identifier: "sdkd").map { "\($0.name)=\($0.value)" }
    for field in AuditField.allCases where field != .record {
      #expect(fields.contains("\(field.journalName)=v-\(field.rawValue)"))
    }
    for line in [
      "SDKD_AUDIT=1", "SDKD_RECORD=refusal", "PRIORITY=5", "MESSAGE=A sentence.",
      "MESSAGE_ID=\(AuditRecord.Kind.refusal.messageID)",
    ] {
      #expect(fields.contains(line))
    }
    #expect(LogWriter.auditLostMessageID == AuditRecord.Kind.lost.messageID)
  }

  @Test("Lost audit records make the health degraded for an hour")
  func lossesAreShown() {
    var lost = LostRecords()
    #expect(AuditLog.checks(lost).isEmpty)
    lost.count = 3
    let now = ContinuousClock.now
    lost.last = now
    for (seconds, isShown) in [(0, true), (3599, true), (3600, false)] {
      let checks = AuditLog.checks(lost, at: now + .seconds(seconds))
      #expect(checks.map(\.status) == (isShown ? [.degraded] : []))
      #expect(checks.allSatisfy { $0.name == "audit" && $0.detail?.hasPrefix("3 audit records were lost") == true })
    }
  }
}
