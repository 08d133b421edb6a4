import Foundation
import SDKProtocol
import Testing

/// The catalog that explains the journal to `journalctl -x`.
@Suite struct JournalCatalogTests {
  /// Returns the entries of `Packaging/catalog/sdkd.catalog`: headers and text by identifier.
  private static func catalog() throws -> [String: (headers: [String: String], text: String)] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = try String(contentsOf: root.appendingPathComponent("Packaging/catalog/sdkd.catalog"), encoding: .utf8)
    var entries: [String: (headers: [String: String], text: String)] = [:]
    for part in file.components(separatedBy: "\n-- ").dropFirst() {
      let lines = part.components(separatedBy: "\n")
      let id = try #require(lines.first)
      let head = lines.dropFirst().prefix { !$0.isEmpty }
      let headers = head.map { $0.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) } }
      #expect(entries[id] == nil, "\(id) stands there twice")
      entries[id] = (
        Dictionary(uniqueKeysWithValues: headers.map { ($0[0], $0[1]) }),
        lines.dropFirst(head.count + 2).joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
      )
    }
    return entries
  }

  @Test func `Each message has a text with what it means and what to do, and no text is without a message`() throws {
    let catalog = try Self.catalog()
    let known = AuditRecord.Kind.allCases.map(\.messageID) + JournalMessage.allCases.map(\.id)
    #expect(Set(known).count == known.count)
    #expect(Set(catalog.keys) == Set(known))
    for (id, entry) in catalog {
      #expect(id.utf8.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase }, "\(id)")
      #expect(entry.headers["Defined-By"] == "sdkd" && entry.headers["Documentation"] == "man:sdkd(8)", "\(id)")
      #expect(entry.headers["Subject"]?.isEmpty == false && entry.text.count > 20, "\(id)")
    }
  }

  @Test func `The operator's guide has every message`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let guide = try String(
      contentsOf: root.appendingPathComponent("Packaging/documentation/operator-guide/states.md"), encoding: .utf8)
    for (id, entry) in try Self.catalog() {
      let subject = (entry.headers["Subject"] ?? "").replacingOccurrences(of: "@SDKD_INSTANCE@", with: "…")
      #expect(guide.contains("| `\(id)` | \(subject) | "), "\(id)")
    }
  }

  @Test func `The fields that texts name are those that the journal has`() throws {
    let names = try Self.catalog().values.flatMap { entry in
      ((entry.headers["Subject"] ?? "") + entry.text).split(separator: "@", omittingEmptySubsequences: false)
        .enumerated().filter { $0.offset.isMultiple(of: 2) == false }.map { String($0.element) }
    }
    #expect(Set(names) == ["SDKD_INSTANCE", "SDKD_METHOD", "SDKD_REFERENCE"])
  }
}
