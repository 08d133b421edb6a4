import JSONRPC
import SDKProtocol

@testable import Systemd
@testable import sdkctl

extension FuzzTarget {
  /// Texts that are shown: fields and lines of the journal, and what `sdkctl` prints on a terminal.
  static let journal = FuzzTarget("journal") { input in
    let text = input.text
    let lines = input.lines
    let record = LogRecord(
      audit: text, messageID: AuditRecord.Kind.call.messageID,
      metadata: [lines[0].clipped(toUTF8: 128): lines.last ?? ""].merging(["text": text]) { first, _ in first })
    let fields = JournalEntry.fields(of: record, identifier: "sdkd")
    for field in fields {
      require((1...64).contains(field.name.utf8.count), "A field has the name \(field.name).")
      require(field.name.utf8.allSatisfy(isNameByte), "journald drops the field \(field.name).")
    }
    require(fields.filter { $0.name == "MESSAGE" }.count == 1, "A text makes a second message.")
    let bytes = DatagramJournal.datagram(fields).count
    require(bytes <= 128 << 10, "An entry has \(bytes) bytes.")
    let line = StandardErrorSink.line(record, prefixed: true)
    checkLine(line)
    if let entry = AuditEntry(line: line) { checkEntry(entry) }
    if let object = try? JSONParser.parse(input.bytes).objectValue, let entry = AuditEntry(journal: object) {
      checkEntry(entry)
    }
    checkLine(LineText.escaped(text))
    checkLine(LineText.value(text))
    let safe = SafeText.escaped(text)
    checkLine(safe)
    // A JSON text that is shown stays the same value, unless its line breaks stand between values.
    if let json = try? JSONParser.parse(JSONWriter.bytes(of: .string(text))) {
      let shown = SafeText.escaped(JSONWriter.text(of: json))
      require((try? JSONParser.parse(shown)) == json, "A text is another one when it is shown.")
    }
  }

  private static func checkEntry(_ entry: AuditEntry) {
    _ = entry.line
    require((try? JSONParser.parse(JSONWriter.bytes(of: entry.json))) != nil, "A record of the audit can't be written.")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
  }

  private static func checkLine(_ line: String) {
    for scalar in line.unicodeScalars where scalar.value >= 0x7F || scalar.value < 0x20 {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        fatalError("U+\(String(scalar.value, radix: 16)) goes to a terminal.")
      default: break
      }
    }
  }
}
