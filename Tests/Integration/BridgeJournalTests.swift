import Foundation
import JSONRPC
import Testing

/// The standard error of providers, in the journal or the log.
@Suite struct BridgeJournalTests {
  @Test func goesToTheJournalLineByLineWithTheInstancesFieldsMasked() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let socket = folder.appendingPathComponent("journal").path
    let journal = try Datagrams(socket)
    let jwt = try Vendor.mint("alice")
    let desk = try BridgeDesk(
      "echo 'first line' >&2; echo 'got \(jwt) back' >&2; echo 'password=hunter2 Bearer abc' >&2; printf 'last' >&2; exit 3",
      environment: ["SDKD_JOURNAL_SOCKET": socket])
    _ = try desk.line.failure("token.refresh", ["instance": "desk"])
    func entry(_ message: String) -> String? { journal.received.first { $0.contains("MESSAGE=\(message)\n") } }
    try eventually("the last line is in the journal") { entry("last") != nil }
    for message in [
      "first line", "got ‹masked› back", "password=‹masked› Bearer ‹masked›", "last",
    ] {
      let fields = try #require(entry(message), "\(message)")
      #expect(fields.contains("SDKD_INSTANCE=desk\n"))
      #expect(fields.contains("SDKD_KIND=zendesk.messaging\n"))
      #expect(fields.contains("SDKD_PROVIDER_OUTPUT=1\n"))
    }
    #expect(journal.received.contains { !$0.contains("SDKD_PROVIDER_OUTPUT") })
    #expect(!journal.received.contains { $0.contains(jwt) || $0.contains("hunter2") })
  }

  @Test func isBounded() throws {
    let desk = try BridgeDesk("i=0; while [ $i -lt 3000 ]; do echo \"line $i of many\" >&2; i=$((i+1)); done; exit 3")
    _ = try desk.line.failure("token.refresh", ["instance": "desk"], within: 60)
    try eventually("the end is logged") { desk.desk.logs.contains("bytes more, which are not kept") }
    let lines = desk.desk.logs.split(separator: "\n").filter { $0.contains("of many") }
    #expect(lines.count > 100 && lines.count < 300)
    #expect(lines.first?.contains("line 0 of many") == true)
  }
}
