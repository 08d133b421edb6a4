import Logging
import Testing

@testable import Systemd

@Suite struct JournalFieldTests {
  @Test(arguments: [
    ("instance", "SDKD_INSTANCE"), ("tokenId", "SDKD_TOKEN_ID"), ("peerUid", "SDKD_PEER_UID"),
    ("peerUID", "SDKD_PEER_UID"), ("URLPath", "SDKD_URL_PATH"), ("audit", "SDKD_AUDIT"),
    ("request.id", "SDKD_REQUEST_ID"), ("http-status", "SDKD_HTTP_STATUS"), ("already_snake", "SDKD_ALREADY_SNAKE"),
    ("UPPER", "SDKD_UPPER"), ("sha256Sum", "SDKD_SHA256_SUM"), ("_leading", "SDKD_LEADING"),
    ("__a__b__", "SDKD_A_B"), ("MESSAGE", "SDKD_MESSAGE"), ("PRIORITY=0\nMESSAGE", "SDKD_PRIORITY_0_MESSAGE"),
    ("größe", "SDKD_GR_E"), ("9lives", "SDKD_9LIVES"),
  ])
  func names(key: String, name: String) {
    #expect(JournalField.name(forKey: key) == name)
  }

  @Test(arguments: ["", "_", "=", "\n", "ß", "..."]) func keysOfNothing(key: String) {
    #expect(JournalField.name(forKey: key) == nil)
  }

  @Test func namesAreBoundedAndValid() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let scalars = (0..<Int.random(in: 0..<90, using: &generator)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0..<0x250, using: &generator))
      }
      guard let name = JournalField.name(forKey: String(String.UnicodeScalarView(scalars))) else { continue }
      #expect(name.hasPrefix("SDKD_") && name.utf8.count <= 64)
      #expect(!name.hasSuffix("_") && !name.contains("__"))
      #expect(
        name.unicodeScalars.allSatisfy { ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_" })
    }
  }

  @Test func entry() {
    let metadata: Logger.Metadata = [
      "instance": "front-desk", "messageID": "5B5E0C9E-2f6a-4f0e-9a44-3a4dd4ac5c11", "audit": "true",
      "MESSAGE": "forged", "PRIORITY": "0",
    ]
    let fields = JournalEntry.fields(
      of: record("hello\nworld", level: .warning, metadata: metadata), identifier: "sdkd")
    #expect(
      fields == [
        JournalField("MESSAGE", "hello\nworld"), JournalField("PRIORITY", "4"),
        JournalField("SYSLOG_IDENTIFIER", "sdkd"), JournalField("CODE_FILE", "SDKInstances/Instance.swift"),
        JournalField("CODE_LINE", "42"), JournalField("CODE_FUNC", "login()"),
        JournalField("SDKD_LOGGER", "sdkd.test"), JournalField("SDKD_MESSAGE", "forged"),
        JournalField("SDKD_PRIORITY", "0"), JournalField("SDKD_AUDIT", "1"),
        JournalField("SDKD_INSTANCE", "front-desk"),
        JournalField("MESSAGE_ID", "5b5e0c9e2f6a4f0e9a443a4dd4ac5c11"),
      ])
  }

  @Test func onlyIdentifiersBecomeMessageIDs() {
    let fields = JournalEntry.fields(of: record("x", metadata: ["messageID": "zz"]), identifier: "sdkd")
    #expect(fields.last == JournalField("SDKD_MESSAGE_ID", "zz"))
  }

  @Test func priorities() {
    let levels: [Logger.Level] = [.trace, .debug, .info, .notice, .warning, .error, .critical]
    #expect(levels.map(JournalEntry.priority) == [7, 7, 6, 5, 4, 3, 2])
  }
}
