import Foundation
import JSONRPC
import Testing

@testable import SandboxServer

/// A thousand instances whose tokens end within the same minute.
@Suite struct StormTests {
  private static let count = 1000
  /// The number of providers that run at a time.
  private static let slots = 4

  @Test func aThousandTokensThatEndInTheSameMinuteAreRenewedBeforeAndReadersNeverWait() throws {
    let desk = try Desk.open(
      configuration: "[bridge]\nmax_concurrent = \(Self.slots)\nmax_running = \(Self.slots)\n")
    let line = try desk.connect()
    let provider = try storingProvider(desk)
    let ids = (0..<Self.count).map { "i\($0)" }
    try inTurn(ids, on: line) { id in
      try self.creation(id, desk, provider)
    }
    // The measured pace of logins decides when the tokens end: every user must be signed in long before.
    let trial = Date()
    try inTurn(Array(ids.prefix(50)), on: line) { self.login($0, ending: Date().addingTimeInterval(3600)) }
    let pace = Date().timeIntervalSince(trial) / 50
    let end = Date().addingTimeInterval(30 + 2 * pace * Double(Self.count))
    try inTurn(ids, on: line) { id in
      // The tokens end up to 20 seconds apart.
      self.login(id, ending: end.addingTimeInterval(Double(ids.firstIndex(of: id) ?? 0) * 20 / Double(Self.count)))
    }
    let first = try Dictionary(uniqueKeysWithValues: tokens(ids, on: line).map { ($0, $1["tokenId"]) })
    #expect(Date() < end.addingTimeInterval(-10), "the logins took too long for the test")

    var renewed: Set<String> = []
    var reads = 0
    while renewed.count < ids.count, Date() < end.addingTimeInterval(60) {
      for (id, token) in try tokens(ids, on: line) {
        reads += 1
        #expect(token["fromCache"] == true, "\(id) was kept waiting")
        #expect(token["stale"] == false, "\(id) has a stale token")
        #expect(token["ttl"]?.doubleValue ?? 0 > 0, "\(id) has a dead token")
        if token["tokenId"] != first[id] { renewed.insert(id) }
      }
      usleep(100_000)
    }
    #expect(renewed.count == ids.count)
    #expect(reads >= 2 * ids.count)
    try expectRenewals(line, before: end)
    try expectProviders(desk, runs: ids.count)
  }

  /// Expects that each token was renewed once and in time, and that nothing failed.
  private func expectRenewals(_ line: Line, before end: Date) throws {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    var renewals: [String: Int] = [:]
    for event in try allEvents(on: line) {
      let type = event["type"]?.stringValue ?? ""
      #expect(!["authenticationFailed", "refreshFailed", "breakerOpened", "networkError"].contains(type), "\(event)")
      guard type == "tokenRefreshed" else { continue }
      renewals[event["instance"]?.stringValue ?? "", default: 0] += 1
      let time = try #require(formatter.date(from: event["time"]?.stringValue ?? ""))
      #expect(time < end.addingTimeInterval(20), "\(event)")
    }
    #expect(renewals.count == Self.count)
    #expect(renewals.values.allSatisfy { $0 == 1 })
  }

  /// Expects, from the marks that the providers wrote at their start and end, never more runs at a time than slots.
  private func expectProviders(_ desk: Desk, runs: Int) throws {
    let marks = try String(contentsOf: desk.folder.appendingPathComponent("marks"), encoding: .utf8)
    var (current, most, total) = (0, 0, 0)
    for mark in marks.split(separator: "\n") {
      current += mark == "+" ? 1 : -1
      total += mark == "+" ? 1 : 0
      most = max(most, current)
    }
    #expect(current == 0)
    #expect(total == runs)
    #expect(most <= Self.slots, "\(most) providers at a time")
  }

  @Test func aCachedTokenWaitsForNoRefreshNeitherItsOwnNorAnothers() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let provider = try desk.provider("exec sleep 300")
    for id in ["desk", "other"] {
      try desk.create(
        id, on: line, settings: ["realtime": "off"],
        provider: .object((provider.objectValue ?? [:]).merged(with: ["timeout": "60s"])))
      try line.call("messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint(id))])
    }
    let refreshes = ["desk", "other"].map { line.begin("token.refresh", ["instance": .string($0)]) }
    try eventually("both providers hang") {
      try ["desk", "other"].allSatisfy { try desk.state(of: $0, on: line) == "refreshing" }
    }
    let reads = (0..<200).map { line.begin("token.get", ["instance": $0 % 2 == 0 ? "desk" : "other"]) }
    // Responses come in the order in which they are ready: all reads before either refresh.
    var answered: [Int] = []
    while answered.count < reads.count {
      let message = try #require(try line.json())
      guard let id = message["id"]?.intValue else { continue }
      #expect(!refreshes.contains(id), "a refresh ended: \(message)")
      #expect(message["result"]?["fromCache"] == true)
      answered.append(id)
    }
    #expect(Set(answered) == Set(reads))
    #expect(try desk.state(of: "desk", on: line) == "refreshing")
  }

  @Test func aTokenIsRenewedAheadOfTimeAgainAndAgainAndServedWhileThatFails() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.write("fail", "")
    let provider = try desk.provider(
      "echo run >> '\(desk.folder.path)/runs'\n[ -e '\(desk.folder.path)/fail' ] && exit 1\n"
        + "exec '\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\"")
    try desk.create(
      "desk", on: line, settings: ["realtime": "off", "refresh": ["mode": "eager", "min_interval": 1, "jitter": 0]],
      provider: provider)
    let jwt = try desk.logIn(ttl: 60, on: line)
    try eventually("the provider has failed more than once", within: 60) {
      let runs = (try? String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)) ?? ""
      let token = try line.call("token.get", ["instance": "desk"])
      #expect(token["token"] == .string(jwt))
      return runs.split(separator: "\n").count > 1
    }
    let token = try line.call("token.get", ["instance": "desk", "minTTL": "50m"])
    #expect(token["token"] == .string(jwt))
    #expect(token["stale"] == true)
    #expect(try desk.state(on: line) == "authenticated")
    try FileManager.default.removeItem(at: desk.folder.appendingPathComponent("fail"))
    try eventually("it is renewed by itself", within: 60) {
      try line.call("token.get", ["instance": "desk"])["token"] != .string(jwt)
    }
    #expect(try !desk.eventTypes(on: line).contains("authenticationFailed"))
  }

  // MARK: Steps

  /// Creates a provider that prints the prepared token of its user without starting another program.
  private func storingProvider(_ desk: Desk) throws -> JSON {
    for number in 0..<Self.count {
      var token = DemoToken(externalID: "u-i\(number)")
      token.lifetime = 7200
      try desk.write("tokens/u-i\(number)", token.text + "\n")
    }
    return try desk.provider(
      "cd '\(desk.folder.path)' || exit 1\necho + >> marks\nread -r token < \"tokens/$SDKD_EXTERNAL_ID\"\n"
        + "echo \"$token\"\necho - >> marks")
  }

  private func creation(_ id: String, _ desk: Desk, _ provider: JSON) throws -> (String, JSON) {
    let settings: JSONObject = [
      "base_url": .string(try desk.vendor.messaging), "app_id": .string(Desk.app), "realtime": "off",
      "refresh": ["mode": "eager", "margin": "2s", "jitter": 0.05],
    ]
    return (
      "instance.create",
      [
        "instance": .string(id), "kind": "zendesk.messaging", "settings": .object(settings), "provider": provider,
      ]
    )
  }

  private func login(_ id: String, ending end: Date) -> (String, JSON) {
    var token = DemoToken(externalID: "u-\(id)")
    token.lifetime = end.timeIntervalSince(token.issuedAt)
    return ("messaging.loginUser", ["instance": .string(id), "jwt": .string(token.text)])
  }

  /// Makes a call for each id, 16 at a time. Throws when a call fails.
  private func inTurn(_ ids: [String], on line: Line, _ call: (String) throws -> (String, JSON)) throws {
    for start in stride(from: 0, to: ids.count, by: 16) {
      let calls = try ids[start..<min(start + 16, ids.count)].map { id in
        let (method, params) = try call(id)
        return line.begin(method, params)
      }
      for id in calls {
        let answer = try line.answer(id, within: 60)
        guard answer["error"] == nil else { throw Program.Failure(description: JSONWriter.text(of: answer)) }
      }
    }
  }

  private func tokens(_ ids: [String], on line: Line) throws -> [(String, JSON)] {
    try ids.map { ($0, try line.call("token.get", ["instance": .string($0)], within: 60)) }
  }

  private func allEvents(on line: Line) throws -> [JSON] {
    var events: [JSON] = []
    var params: JSONObject = ["limit": 500]
    while true {
      let page = try line.call("events.list", .object(params))
      let more = page["events"]?.arrayValue ?? []
      events += more
      guard !more.isEmpty, let cursor = page["cursor"] else { return events }
      params["since"] = cursor
    }
  }
}
