import Foundation
import JSONRPC
import Testing

/// The programs on the documentation page about events, run as they are written.
@Suite struct EventDocumentationTests {
  private static let packaging = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Packaging")

  @Test(arguments: [["python3", "python", "app.py"], ["node", "js", "app.mjs"]])
  func `The program of the page prints each event once`(language: [String]) throws {
    let page = Self.packaging.appendingPathComponent("documentation/events.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let blocks = text.components(separatedBy: "```\(language[1])\n")
    #expect(blocks.count == 2)
    let block = try #require(blocks.last?.components(separatedBy: "```").first)
    let desk = try Desk.open(configuration: "[events]\nretention = { count = 6 }\n")
    let app = try desk.write(language[2], block)
    // Programs of Node find the client as `npm install` would have linked it.
    let modules = desk.folder.appendingPathComponent("node_modules")
    try FileManager.default.createDirectory(at: modules, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: modules.appendingPathComponent("sdkd"),
      withDestinationURL: Self.packaging.appendingPathComponent("clients/javascript"))
    let out = desk.folder.appendingPathComponent("events")
    let place = desk.folder.appendingPathComponent("place")
    func run() throws -> Program {
      try Program(
        "/usr/bin/env", [language[0], app.path, desk.socket, place.path],
        output: out, log: desk.folder.appendingPathComponent("app.err"))
    }
    func printed() -> [String] {
      ((try? String(contentsOf: out, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }
    var program: Program? = try run()
    try eventually("it has subscribed") { FileManager.default.fileExists(atPath: place.path) }
    try desk.create("one", on: try desk.connect())
    try eventually("it is told") { printed().count == 1 }
    try desk.crash()
    try desk.create("two", on: try desk.connect())
    let last = try desk.connect().call("events.list")["events"]?.arrayValue?.last?["cursor"]?.stringValue
    // If the app were killed between printing and storing the cursor, it would rightly print this event again.
    try eventually("it has connected again and kept its place", within: 30) {
      printed().count == 2 && (try? String(contentsOf: place, encoding: .utf8)) == last
    }
    program?.signal(9)
    _ = program?.exit(within: 10)
    program = nil
    try desk.create("three", on: try desk.connect())
    EventWriter(desk.socket, instance: "one", times: 20).wait()
    program = try run()
    let missed = "events were missed: read the state again"
    let kept = Array(repeating: "one instanceUpdated", count: 6)
    let created = ["one", "two", "three"].map { "\($0) instanceCreated" }
    try eventually("it has caught up", within: 30) { printed().count == 10 }
    #expect(printed() == created[..<2] + [missed, created[2]] + kept)
  }
}
