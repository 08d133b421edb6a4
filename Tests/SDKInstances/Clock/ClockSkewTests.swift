import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct ClockSkewTests {
  private let now = Timestamp(secondsSince1970: 1_795_259_340)

  private func skew(_ ahead: Double, took seconds: Double = 0.2) -> ClockSkew {
    var skew = ClockSkew()
    skew.note(
      date: Timestamp(secondsSince1970: (now.secondsSince1970 + ahead).rounded(.down)), sentAt: now,
      receivedAt: now + seconds, isSuccess: true)
    return skew
  }

  @Test(arguments: [-86_000.0, -600, -7, 7, 90, 3600])
  func `A difference of more than a few seconds is corrected`(ahead: Double) {
    #expect(abs(skew(ahead).correction - ahead) <= 1)
  }

  @Test(arguments: [-4.0, -1, 0, 2, 4, 90_000, -90_000])
  func `Little is left alone and too much is not believed`(ahead: Double) { #expect(skew(ahead).correction == 0) }

  @Test func `Answers that fit move nothing`() {
    var skew = skew(60)
    let first = skew.correction
    for step in 1...50 {
      let sent = now + Double(step) * 0.37
      skew.note(
        date: Timestamp(secondsSince1970: (sent.secondsSince1970 + 60.1).rounded(.down)), sentAt: sent,
        receivedAt: sent + 0.2, isSuccess: true)
    }
    #expect(abs(skew.correction - first) <= 1)
  }

  @Test(arguments: [-7200.0, 7200, 30])
  func `Setting our clock does not change the time at the vendor`(seconds: Double) {
    let clock = ManualClock()
    let clocks = VendorClocks(clock.wall, uptime: MonotonicClock { .zero })
    let vendor = clocks.clock(of: InstanceUUID("one"))
    let unheard = clocks.clock(of: InstanceUUID("two"))
    vendor.note(headers: ["date": "Sat, 21 Nov 2026 13:09:00 GMT"], status: 200, sentAt: clock.now)
    let time = vendor.now
    #expect(abs(time - clock.now - 7200) <= 1)
    clock.advance(seconds)
    clocks.clockWasSet()
    #expect(abs(vendor.now - time) <= ClockSkew.tolerance)
    #expect(unheard.now == clock.now)
    // A second call changes nothing, since the clock was not set again.
    clocks.clockWasSet()
    #expect(abs(vendor.now - time) <= ClockSkew.tolerance)
  }

  @Test func `A clock that was set during an exchange, and a slow one, say nothing`() {
    #expect(skew(600, took: -30).correction == 0)
    #expect(skew(600, took: 30).correction == 0)
  }

  @Test func `After our clock was set the next answer tells`() {
    var skew = skew(0)
    skew.note(date: now, sentAt: now - 3600, receivedAt: now - 3599.9, isSuccess: true)
    #expect(abs(skew.correction - 3600) <= 1)
    skew.note(date: now + 10, sentAt: now + 10, receivedAt: now + 10.1, isSuccess: true)
    #expect(skew.correction == 0)
  }

  @Test func `Answers of a cache say nothing`() {
    let clock = ManualClock()
    let vendor = VendorClock(clock.wall)
    vendor.note(headers: ["date": "Fri, 15 Jan 2027 08:00:00 GMT", "age": "3"], status: 200, sentAt: clock.now)
    vendor.note(headers: ["date": "nonsense"], status: 200, sentAt: clock.now)
    vendor.note(headers: [:], status: 200, sentAt: clock.now)
    #expect(vendor.now == clock.now)
    clock.advance(1_800_000_600 - ManualClock.start.secondsSince1970)
    vendor.note(headers: ["date": "Fri, 15 Jan 2027 08:00:00 GMT"], status: 200, sentAt: clock.now)
    #expect(abs(vendor.now.secondsSince1970 - 1_800_000_000) <= 1)
    #expect(abs(vendor.ours(vendor.now) - clock.now) < 0.001)
  }

  /// Notes responses of the vendor one after the other. Each has the seconds by which its `Date` is ahead.
  private func noted(_ responses: [(ahead: Double, isSuccess: Bool)], by skew: ClockSkew = ClockSkew()) -> ClockSkew {
    var skew = skew
    for (index, response) in responses.enumerated() {
      let sent = now + Double(index) * 60
      skew.note(
        date: Timestamp(secondsSince1970: (sent.secondsSince1970 + response.ahead).rounded(.down)), sentAt: sent,
        receivedAt: sent + 0.2, isSuccess: response.isSuccess)
    }
    return skew
  }

  private static let sequences: [(responses: [(ahead: Double, isSuccess: Bool)], believed: Double)] = [
    ([(7200, true)], 7200), ([(7200, false)], 0), ([(7200, false), (7200, false)], 7200),
    ([(7200, false), (-7200, false)], 0), ([(7200, false), (-7200, false), (7200, false)], 0),
    ([(7200, false), (-7200, false), (-7200, false)], -7200), ([(7200, false), (0, true), (7200, false)], 0),
    ([(7200, true), (0, true)], 0), ([(7200, true), (0, false)], 7200), ([(7200, true), (0, false), (0, false)], 0),
    ([(7200, true), (0, false), (7200, false), (0, false)], 7200), ([(0, true), (7200, false)], 0),
    ([(0, true), (7200, false), (7200, false)], 7200), ([(7200, false), (7200, true)], 7200),
  ]

  @Test(arguments: sequences.indices)
  func `One unsuccessful response is not believed, one success or two that agree are`(index: Int) {
    let (responses, believed) = Self.sequences[index]
    #expect(abs(noted(responses).correction - believed) <= 1)
  }

  /// The responses after an offset of two hours was disproved.
  private static let disproved: [(responses: [(ahead: Double, isSuccess: Bool)], believed: Double)] = [
    ([], 0), ([(7200, true)], 0), ([(7200, true), (7200, true)], 0), ([(7200, false), (7200, false)], 0),
    ([(-7200, true)], -7200), ([(3600, true)], 3600), ([(3600, false)], 0), ([(0, true)], 0),
    ([(0, true), (7200, true)], 0),
  ]

  @Test(arguments: disproved.indices)
  func `A disproved offset is forgotten and not believed again, another one is`(index: Int) {
    let (responses, believed) = Self.disproved[index]
    var skew = noted([(7200, true)])
    skew.disprove()
    #expect(skew.correction == 0)
    #expect(abs(noted(responses, by: skew).correction - believed) <= 1)
  }

  @Test func `A disproved offset moves with our clock`() {
    var skew = noted([(7200, true)])
    skew.disprove()
    skew.shift(by: 3600)
    #expect(noted([(3600, true)], by: skew).correction == 0)
    #expect(abs(noted([(7200, true)], by: skew).correction - 7200) <= 1)
  }
}
