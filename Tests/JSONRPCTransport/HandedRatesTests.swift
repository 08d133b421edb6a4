import JSONRPC
import Testing

@testable import JSONRPCTransport

@Suite struct HandedRatesTests {
  private static let rates = [
    HandedRates(user: 1001, calls: .max, messages: 1, connections: 0),
    HandedRates(user: nil, calls: 1 << 60, messages: 1 << 61, connections: 1 << 62),
    HandedRates(user: .max, calls: 0, messages: 0, connections: 7),
  ]

  private static let state = ConnectionHandOver(
    inode: 1, framing: .lines, input: [0xFF], output: [10, 10], requests: [], lastQuestion: 0, program: .null)

  /// Returns the line of one user with these members.
  private static func line(_ members: JSON) -> [UInt8] {
    JSONWriter.bytes(of: ["rates": [members], "input": 0, "output": 0]) + Array("\n".utf8)
  }

  @Test("Rates are the same after they were written and read")
  func roundTrip() {
    #expect(HandedRates.decode(HandedRates.encode(Self.rates)) == Self.rates)
    #expect(HandedRates.encode([]).isEmpty)
  }

  @Test("Rates and connections of one state do not disturb each other")
  func besideConnections() {
    let bytes = HandedRates.encode(Self.rates) + Self.state.encoded + Self.state.encoded
    #expect(HandedRates.decode(bytes) == Self.rates)
    #expect(ConnectionHandOver.decode(bytes) == [Self.state, Self.state])
  }

  @Test("A state of a former version has no rates")
  func formerVersion() {
    #expect(HandedRates.decode(Self.state.encoded).isEmpty)
    #expect(HandedRates.decode([]).isEmpty)
    #expect(HandedRates.decode(Array("x\n".utf8)).isEmpty)
  }

  private static let times: [(value: JSON?, read: UInt64)] = [
    (nil, 0), (nil as JSON, 0), (7, 0), ("", 0), ("-1", 0), ("+1", 0), ("NaN", 0), ("1.5", 0), ("inf", 0), ("7", 7),
    ("18446744073709551615", .max), ("18446744073709551616", .max),
  ]

  @Test(
    "A time that is no number means a full bucket, and one that is too large an empty one", arguments: times.indices)
  func badTime(index: Int) {
    let (value, read) = Self.times[index]
    var members: JSONObject = ["user": 1, "messages": "1", "connections": "2"]
    members["calls"] = value
    let expected = HandedRates(user: 1, calls: read, messages: 1, connections: 2)
    #expect(HandedRates.decode(Self.line(.object(members))) == [expected], "\(String(describing: value))")
  }

  @Test(
    "A user that can't be read is left out",
    arguments: [[:], ["user": -1], ["user": "1"], ["user": 4_294_967_296], ["user": 1.5], 1, nil] as [JSON])
  func badUser(members: JSON) {
    #expect(HandedRates.decode(Self.line(members)).isEmpty)
  }

  @Test("A line has a bounded number of users: those with the fewest calls left")
  func bound() {
    let all = (0..<(2 * UInt32(HandedRates.maximumUsers))).map {
      HandedRates(user: $0, calls: UInt64($0), messages: 0, connections: 0)
    }
    let kept = HandedRates.decode(HandedRates.encode(all))
    #expect(kept == all.suffix(HandedRates.maximumUsers).reversed())
  }

  @Test("A user who has used up the burst is still limited, until the tokens have come")
  func share() throws {
    let second: UInt64 = 1_000_000_000
    let now = 50 * second
    let former = Share(limits: AllowanceLimits(callsPerSecond: 1), user: 7)
    #expect(former.usedRates(at: now) == nil)
    for _ in 0..<2 { #expect(former.takeCall(at: now) == nil) }
    let used = try #require(former.usedRates(at: now))
    #expect(used.user == 7)
    // The former daemon may have had a higher limit, or a lower one.
    for calls in [1, 5] {
      let next = Share(limits: AllowanceLimits(callsPerSecond: calls), user: 7)
      next.adopt(used, at: now)
      #expect(next.takeCall(at: now)?.reason == "rateLimit")
      for _ in 0..<calls { #expect(next.takeCall(at: now + second) == nil) }
      #expect(next.takeCall(at: now + second)?.reason == "rateLimit")
    }
  }
}
