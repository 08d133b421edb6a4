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
}
