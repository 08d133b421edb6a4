import Foundation
import Glibc
import JSONRPC
import SDKProtocol
import Testing

/// The breaker of an instance's provider, as callers, events and people see it.
@Suite struct BridgeBreakerTests {
  /// Opens a desk whose provider counts its runs, and fails in this way until there is a file `works`.
  private func desk(_ failure: String = "exit 1", access: JSON? = nil) throws -> BridgeDesk {
    let desk = try BridgeDesk(access: access)
    let script =
      "echo run >> '\(desk.path("runs"))'; [ -e '\(desk.path("works"))' ] || { \(failure); }; exec \(BridgeDesk.mint)"
    _ = try desk.desk.provider(script)
    return desk
  }

  private func runs(_ desk: BridgeDesk) -> Int { desk.read("runs").split(separator: "\n").count }

  /// Makes a call that wants a new token, but that the open breaker may serve from the cache.
  private func ask(_ desk: BridgeDesk) throws -> JSON {
    try desk.line.call("token.get", ["instance": "desk", "minTTL": "2h"])
  }

  /// Lets the provider fail until the breaker is open for more than two seconds. Returns the seconds left, which are
  /// random.
  private func holdBack(_ desk: BridgeDesk) throws -> Double {
    var left = 0.0
    try eventually("the breaker is open for a while", within: 120) {
      let bridge = try desk.bridge()
      guard bridge["state"] == "open", let next = bridge["nextAttemptAt"]?.stringValue.flatMap({ Timestamp($0) }) else {
        _ = try ask(desk)
        return false
      }
      left = next - .now
      // Time enough to observe the open breaker, but not the whole test.
      return left > 2
    }
    return left
  }

  private func events(_ desk: BridgeDesk) throws -> [String] {
    try desk.line.call("events.list")["events"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
  }

  /// Ways to fail, with the exit that is shown: the program, its output, an answer that the daemon refuses.
  private static let failures = [
    ("exit 1", "1"), ("exit 0", "0"),
    ("exec '\(Program.path("sdk-sandbox"))' mint --external-id somebody-else", "output"),
  ]

  @Test("A breaker opens, looks again and closes, and reports each once", arguments: failures)
  func itOpensLooksAgainAndCloses(failure: String, exit: String) throws {
    let desk = try desk(failure)
    #expect(try desk.bridge() == ["state": "closed", "attached": 0])
    // The breaker never stops a first run.
    #expect(try ask(desk)["stale"] == true)
    #expect(runs(desk) == 1)
    #expect(try desk.bridge()["lastExit"] == .string(exit))
    let left = try holdBack(desk)
    #expect(left <= 300)
    let before = runs(desk)
    for _ in 0..<5 { #expect(try ask(desk)["stale"] == true) }
    #expect(runs(desk) == before)
    try desk.desk.write("works", "")
    try eventually("it may be tried again", within: 310) { try desk.bridge()["state"] == "halfOpen" }
    #expect(runs(desk) == before)
    _ = try ask(desk)
    try eventually("the breaker is closed") { try desk.bridge()["state"] == "closed" }
    #expect(runs(desk) == before + 1)
    #expect(try desk.bridge() == ["state": "closed", "lastExit": "0", "attached": 0])
    try eventually("the events are there") {
      let types = try events(desk)
      return types.contains("breakerOpened") && types.contains("breakerClosed")
    }
    #expect(try events(desk).filter { $0.hasPrefix("breaker") } == ["breakerOpened", "breakerClosed"])
  }

  @Test func controlClosesItAndUseDoesNot() throws {
    let desk = try desk(access: ["use": ["uid:1002"], "control": ["uid:1003"]])
    _ = try holdBack(desk)
    let before = runs(desk)
    try desk.desk.write("works", "")
    let refused = try desk.desk.call(asUid: 1002, "token.refresh", ["instance": "desk"])["error"]
    #expect(refused?["data"]?["reason"] == "providerBackoff")
    #expect((refused?["data"]?["retryAfter"]?.doubleValue ?? 0) > 0)
    #expect(runs(desk) == before)
    let answer = try desk.desk.call(asUid: 1003, "token.refresh", ["instance": "desk"])
    #expect(answer["result"]?["fromCache"] == false, "\(JSONWriter.text(of: answer))")
    #expect(runs(desk) == before + 1)
    #expect(try desk.bridge()["state"] == "closed")
  }

  @Test("A token that was reported again waits for min_interval, also for a refresh, unless control asks")
  func aReportedTokenIsHeldBack() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 60]],
      provider: try desk.countingProvider(), access: ["use": ["uid:1002"], "control": ["uid:1003"]])
    try desk.logIn(on: line)
    func runs() -> Int {
      let text = try? String(contentsOf: desk.folder.appendingPathComponent("runs-desk"), encoding: .utf8)
      return text?.split(separator: "\n").count ?? 0
    }
    func report() throws -> JSON {
      let id = try line.call("token.get", ["instance": "desk"])["tokenId"] ?? .null
      try line.call("token.reject", ["instance": "desk", "tokenId": id, "status": 401])
      return id
    }
    let first = try report()
    #expect(try report() != first)
    #expect(runs() == 1)
    for method in ["token.get", "token.refresh"] {
      let error = try desk.call(asUid: 1002, method, ["instance": "desk"])["error"]?["data"]
      #expect(error?["reason"] == "providerBackoff", "\(method)")
      #expect((1...60).contains(error?["retryAfter"]?.doubleValue ?? 0), "\(method)")
    }
    #expect(runs() == 1)
    let fresh = try desk.call(asUid: 1003, "token.refresh", ["instance": "desk"])["result"]
    #expect(fresh?["fromCache"] == false)
    #expect(runs() == 2)
    #expect(try desk.call(asUid: 1002, "token.get", ["instance": "desk"])["result"]?["tokenId"] == fresh?["tokenId"])
  }

  @Test func showTellsItInWords() throws {
    let desk = try desk()
    func show() throws -> String { try Vendor.output("sdkctl", ["--socket", desk.desk.socket, "show", "desk"]) }
    #expect(try show().contains("not paused"))
    _ = try holdBack(desk)
    let text = try show()
    #expect(text.contains("waiting after failures; asks again in"))
    #expect(text.contains("failed with exit status 1"))
    // Scripts get the breaker's state in the output as JSON.
    let json = try JSONParser.parse(
      try Vendor.output("sdkctl", ["--socket", desk.desk.socket, "-o", "json", "show", "desk"]))
    #expect(json["bridge"]?["state"] == "open")
  }

  @Test func anotherInstanceIsNotHeldBack() throws {
    let desk = try desk()
    try desk.desk.create(
      "other", on: desk.line, settings: BridgeDesk.lazy,
      provider: try desk.desk.provider("exec \(BridgeDesk.mint)", name: "good"))
    try desk.line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    _ = try holdBack(desk)
    #expect(try desk.line.call("token.refresh", ["instance": "other"])["fromCache"] == false)
  }
}
