import JSONRPC
import SDKProtocol
import Testing

struct TimestampTests {
  @Test(arguments: [
    (0.0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.000Z"), (-0.25, "1969-12-31T23:59:59.750Z"),
    (951_782_400, "2000-02-29T00:00:00.000Z"), (1_709_164_800, "2024-02-29T00:00:00.000Z"),
    (1_709_251_199.999, "2024-02-29T23:59:59.999Z"), (1_709_251_200, "2024-03-01T00:00:00.000Z"),
    (4_107_542_400, "2100-03-01T00:00:00.000Z"), (4_107_456_000, "2100-02-28T00:00:00.000Z"),
    (1_795_259_340.25, "2026-11-21T11:09:00.250Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
    (-62_135_596_800, "0001-01-01T00:00:00.000Z"), (-2_203_891_200, "1900-03-01T00:00:00.000Z"),
  ])
  func `A moment is written and read`(seconds: Double, text: String) throws {
    #expect(Timestamp(secondsSince1970: seconds).description == text)
    let parsed = try #require(Timestamp(text))
    #expect(abs(parsed.secondsSince1970 - seconds) < 0.000_1)
  }

  @Test(arguments: [
    (1e300, "9999-12-31T23:59:59.000Z"), (-1e300, "0001-01-01T00:00:00.000Z"),
    (253_402_300_800, "9999-12-31T23:59:59.000Z"),
    (Double.infinity, "1970-01-01T00:00:00.000Z"), (Double.nan, "1970-01-01T00:00:00.000Z"),
  ])
  func `What four digits can't say is clamped`(seconds: Double, text: String) {
    #expect(Timestamp(secondsSince1970: seconds).description == text)
  }

  @Test func `A moment that was written and read again stays the same`() throws {
    var moment = Timestamp(secondsSince1970: 1_795_259_340)
    for _ in 0..<2000 {
      let text = moment.description
      #expect(try #require(Timestamp(text)).description == text)
      moment = moment + 0.001
    }
    let json = try JSONValueEncoder.encode(Timestamp(secondsSince1970: 1_795_259_340.123))
    #expect(json == "2026-11-21T11:09:00.123Z")
    let decoded = try JSONValueDecoder.decode(Timestamp.self, from: json)
    #expect(try JSONValueEncoder.encode(decoded) == json)
  }

  @Test(arguments: [
    ("2026-11-21T12:09:00+01:00", 1_795_259_340.0), ("2026-11-21T11:09:00Z", 1_795_259_340),
    ("2026-11-21T05:39:00.5-05:30", 1_795_259_340.5), ("2026-11-21T11:09:00.123456789Z", 1_795_259_340.123_456_789),
    ("2026-11-21t11:09:00z", 1_795_259_340), ("2026-11-21T11:09:00.1Z", 1_795_259_340.1),
    ("2026-11-21T11:09:00-00:00", 1_795_259_340), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ("2027-01-01T00:30:00+02:00", 1_798_756_200),
  ])
  func `RFC 3339 with fractions and offsets is read`(text: String, seconds: Double) throws {
    #expect(abs(try #require(Timestamp(text)).secondsSince1970 - seconds) < 0.000_01)
  }

  @Test(arguments: [
    "", "now", "2026-11-21", "2026-11-21T11:09:00", "2026-11-21T11:09:00Zx", "2026-11-21T11:09:00Z ",
    " 2026-11-21T11:09:00Z",
    "2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
    "26-01-01T00:00:00Z",
    "2026-1-1T00:00:00Z", "20260101T000000Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+0100",
    "+2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00+01", "１026-01-01T00:00:00Z",
  ])
  func `What is not RFC 3339 is refused`(text: String) {
    #expect(Timestamp(text) == nil)
    #expect(throws: DecodingError.self) { try JSONValueDecoder.decode(Timestamp.self, from: .string(text)) }
  }

  @Test func `Moments are ordered and moved by seconds`() {
    let moment = Timestamp(secondsSince1970: 100)
    #expect(moment + 5 > moment)
    #expect((moment + 5) - moment == 5)
    #expect(moment - 5 == Timestamp(secondsSince1970: 95))
  }
}

/// Times that RFC 3339 can't represent.
struct FarTimestampTests {
  @Test("A moment outside the years 1 to 9999 is moved to their end", arguments: [1e308, 1e300, 253_402_300_800])
  func clamped(seconds: Double) {
    for seconds in [seconds, -seconds] {
      let far = Timestamp(secondsSince1970: seconds)
      #expect(((far - Timestamp(secondsSince1970: 0)) * 1000).isFinite)
      #expect((far > .now) == (seconds > 0))
    }
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Tue, 29 Feb 2028 23:59:60 GMT", 1_835_481_600), ("Fri, 15 Jan 2027 08:00:00 GMT", 1_800_000_000),
    ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777), ("Friday, 15-Jan-27 08:00:00 GMT", 1_800_000_000),
    ("Wednesday, 01-Jan-76 00:00:00 GMT", 3_345_062_400), ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Fri Jan 15 08:00:00 2027", 1_800_000_000),
  ])
  func `An HTTP date is parsed`(text: String, seconds: Double) {
    let now = Timestamp(secondsSince1970: 1_790_000_000)
    #expect(Timestamp(httpDate: text, now: now) == Timestamp(secondsSince1970: seconds))
  }

  @Test(arguments: [
    "", "now", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov-+4 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT",
    "Sun Nov 06 8:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 08:49:37 GMT 1994",
    "Sun, 06 Nov 1994 25:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 06 Nov 1994 08:49:3x GMT", "99999999999999999999999999999", "Thu, 31 Feb 1994 08:49:37 GMT",
    "Wed, 31 Dec 1969 23:59:59 GMT",
    "Sun, 06 Nov 1994  8:49:37 GMT",
  ])
  func `Other texts are not HTTP dates`(text: String) { #expect(Timestamp(httpDate: text) == nil) }
}
