import Foundation
import JSONRPC
import Testing

/// Clocks that are set, machines that sleep, and vendors whose clock differs.
@Suite struct ClockTests {
  private func ttl(_ line: Line) throws -> Double {
    try line.call("token.get", ["instance": "desk"])["ttl"]?.doubleValue ?? -1
  }

  @Test func endsAreMeasuredByTheVendorsClock() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["realtime": "off", "refresh": ["mode": "lazy"]])
    try desk.vendor.request("POST", "/_clock", ["offsetSeconds": 1800])
    try desk.logIn(ttl: 3600, on: line)
    // The vendor's clock is half an hour ahead: a token for an hour lives for half an hour.
    #expect(try (1700...1802).contains(ttl(line)))
    try desk.vendor.request("POST", "/_clock", ["offsetSeconds": 0])
    try desk.logIn(ttl: 3600, on: line)
    #expect(try ttl(line) > 3500)
  }

  /// How a wrong `Date`, two hours ahead, reaches the daemon: the response, and how often.
  private static let wrongDates: [(script: JSONObject, times: Int)] = [
    (["status": 502, "body": "<html>"], 1), (["status": 502, "body": "<html>"], 2), (["passThrough": true], 1),
    (["passThrough": true], 2),
  ]

  @Test(
    "A wrong Date in responses refuses no JWT that the vendor accepts", arguments: wrongDates.indices, [7200, -7200])
  func R8_aWrongDateRefusesNoJWTThatTheVendorAccepts(index: Int, seconds: Double) throws {
    let (script, times) = Self.wrongDates[index]
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, settings: ["realtime": "off", "refresh": ["mode": "lazy", "min_interval": 0]])
    try desk.logIn(ttl: 3600, on: line)
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = formatter.string(from: Date(timeIntervalSinceNow: seconds))
    for _ in 0..<times {
      try desk.vendor.script(
        .object(
          (["route": "POST /v2/apps/*/login", "headers": ["Date": .string(date)]] as JSONObject).merged(with: script)))
      _ = try? line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    }
    try desk.vendor.clearScripts()
    let before = try desk.vendor.count("POST", "/login")
    let jwt = try Vendor.mint("carol", ttl: 3599)
    let user = try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    #expect(user["externalId"] == "carol")
    #expect(try desk.vendor.count("POST", "/login") == before + 1)
    #expect(try line.call("token.get", ["instance": "desk"])["token"]?.stringValue == jwt)
    #expect(try (3500...3600).contains(ttl(line)), "the vendor's next response has the right date")
  }

  @Test func aTokenThatOurClockCallsDeadIsServedWhileItLivesForTheVendor() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["realtime": "off", "refresh": ["mode": "lazy", "min_interval": 0]],
      provider: try desk.mintingProvider(ttl: 3600))
    try clock.move(to: 5400)
    // By the daemon's clock this token ended half an hour ago, and so have all tokens that the provider mints.
    let jwt = try Vendor.mint("alice")
    _ = try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    // Once the vendor has answered, its time is known.
    let early = try Vendor.mint("alice", ttl: 7200)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(early)])
    #expect(try ttl(line) > 7000)
    let fresh = try line.call("token.refresh", ["instance": "desk"])
    #expect(fresh["fromCache"] == false)
    #expect(try (3400...3602).contains(ttl(line)))
  }

  @Test func whatEndedWhileTheMachineSleptIsRenewedWhenItWakesEachOnceAndNobodyIsLoggedOut() throws {
    let count = 40
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    let provider = try desk.provider(
      "echo run >> '\(desk.folder.path)/runs'; exec '\(Program.path("sdk-sandbox"))' mint "
        + "--external-id \"$SDKD_EXTERNAL_ID\" --ttl 36000")
    try desk.create("first", on: line, settings: ["realtime": "off"])
    try line.call("messaging.loginUser", ["instance": "first", "jwt": .string(try Vendor.mint("first", ttl: 600))])
    for number in 0..<count {
      let id = "i\(number)"
      try desk.create(
        id, on: line, settings: ["realtime": "off", "refresh": ["mode": "eager"]], provider: provider)
      try line.call(
        "messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint("u\(number)"))])
    }
    try clock.move(to: 7200)
    try desk.vendor.request("POST", "/_clock", ["offsetSeconds": 7200])
    // The kernel would report that the clock was set. The library in front of it reports that only when the next timer
    // is set. Deleting the instance with the first deadline sets one.
    try line.call("instance.delete", ["instance": "first"])
    try eventually("all are renewed", within: 60) {
      let events = try line.call("events.list", ["limit": 500])["events"]?.arrayValue ?? []
      return Set(events.filter { $0["type"] == "tokenRefreshed" }.compactMap { $0["instance"]?.stringValue }).count
        >= count
    }
    let types = try line.call("events.list", ["limit": 500])["events"]?.arrayValue?.compactMap {
      $0["type"]?.stringValue
    }
    #expect(types?.contains("userLoggedOut") == false)
    #expect(types?.contains("authenticationFailed") == false)
    let runs = try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)
    #expect(runs.split(separator: "\n").count == count)
  }
}
