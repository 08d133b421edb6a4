import Foundation
import JSONRPC
import SDKClientTesting
import SDKProtocol
import Testing

@testable import sdkctl

/// `sdkctl events` since a time, and with a file that keeps the cursor.
struct EventsTests {
  private let run = Run()

  /// Two pages of one event each: `c1` of 2001 and `c2` of 2100.
  private static let pages: @Sendable (String, JSON) -> JSON = { _, params in
    func event(_ cursor: String, _ year: Int) -> JSON {
      ["cursor": .string(cursor), "time": .string("\(year)-01-01T00:00:00.000Z"), "instance": "kiosk", "type": "t"]
    }
    switch params["since"]?.stringValue {
    case nil: return ["events": [event("c1", 2001)], "cursor": "e1", "next": "e1"]
    case "e1": return ["events": [event("c2", 2100)], "cursor": "e2"]
    default: return ["events": [], "cursor": "e3"]
    }
  }

  private func inFolder(_ body: (_ file: String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("cursor").path)
  }

  @Test("--since takes a time too, and shows what came after it", arguments: ["1h", "2026-01-01T00:00:00Z", "90"])
  func sinceATime(_ text: String) async throws {
    #expect(await run.status("events", "--since", text, "--template", "{cursor}", answer: Self.pages) == 0)
    #expect(run.output == "c2\n")
    #expect(run.calls.first?.params["since"] == nil)
    let json = Run()
    #expect(await json.status("events", "--since", text, "--json", answer: Self.pages) == 0)
    #expect(try JSONParser.parse(json.output).arrayValue?.count == 1)
  }

  @Test("A cursor file shows each event once, and wins over --since", arguments: ["table", "json", "jsonl", "yaml"])
  func cursorFile(_ format: String) async throws {
    try await inFolder { file in
      let line = ["events", "--cursor-file", file, "-o", format]
      #expect(await run.status(line, answer: Self.pages) == 0)
      #expect(run.output.contains("2001") && run.output.contains("2100"))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "e2\n")
      let again = Run()
      #expect(await again.status(line + ["--since", "c0"], answer: Self.pages) == 0)
      #expect(again.calls.map { $0.params["since"] } == ["e2"])
      #expect(!again.output.contains("kiosk"))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "e3\n")
      // A crash of the machine may leave an empty file.
      try "".write(toFile: file, atomically: false, encoding: .utf8)
      let first = Run()
      #expect(await first.status(line + ["--since", "e1"], answer: Self.pages) == 0)
      #expect(first.calls.first?.params["since"] == "e1")
    }
  }

  @Test("The cursor is stored after its events are printed")
  func aReaderThatEnds() async throws {
    try await inFolder { file in
      #expect(await run.status(["events", "--cursor-file", file], lines: 1, answer: Self.pages) == 0)
      #expect(!FileManager.default.fileExists(atPath: file))
    }
  }

  @Test("A cursor file that can't be used is an error")
  func badCursorFiles() async throws {
    try await inFolder { file in
      try "one two\n".write(toFile: file, atomically: false, encoding: .utf8)
      #expect(await run.status("events", "--cursor-file", file, answer: Self.pages) == 1)
      #expect(run.errors.contains("holds more than a cursor. (input)") && run.calls.isEmpty)
      let folder = Run()
      #expect(await folder.status("events", "--cursor-file", "/proc/self", answer: Self.pages) == 1)
      #expect(folder.errors.contains("is no plain file. (input)"))
      let missing = Run()
      #expect(await missing.status("events", "--cursor-file", "\(file).d/cursor", answer: Self.pages) == 1)
      #expect(missing.errors.contains("The cursor can't be kept: create "), "\(missing.errors)")
    }
  }

  @Test("Past events that are no longer kept are reported")
  func gap() async {
    let status = await run.status("events", "--since", "c0") { _, _ in ["events": [], "cursor": "c9", "gap": true] }
    #expect(status == 0)
    #expect(run.errors == "sdkctl: events were missed after c0\n")
    #expect(EventsVerb.gap(after: nil).hasSuffix("those that follow may have been seen before"))
  }
}
