import DelegateBridge
import Randomness
import SDKProtocol
import Testing

@testable import SDKInstances

struct RenewalBookTests {
  private let now = Timestamp(secondsSince1970: 1_000_000)

  private func request(
    latest: Double, earliest: Double = 0, end: Double? = nil, owner: UInt32 = 0, random: Double = 0.5
  ) -> RenewalRequest {
    RenewalRequest(
      owner: owner, latest: now + latest, earliest: now + earliest, end: end.map { now + $0 }, random: random)
  }

  private func book(slots: Int, perOwner: Int? = nil, seconds: Double) -> RenewalBook {
    var book = RenewalBook()
    _ = book.set(BridgePace(slots: slots, slotsPerOwner: perOwner ?? slots, seconds: seconds), now: now)
    return book
  }

  /// Returns the seconds after `now` at which the last run ends, if each takes `seconds` and `slots` run at a time.
  private func end(of starts: [Double], slots: Int, seconds: Double) -> Double {
    var free = [Double](repeating: 0, count: slots)
    for start in starts.sorted() {
      let first = free.indices.min { free[$0] < free[$1] } ?? 0
      free[first] = max(free[first], start) + seconds
    }
    return free.max() ?? 0
  }

  @Test func `A lone renewal begins when it is wanted`() {
    var book = book(slots: 4, seconds: 1)
    let place = book.place(request(latest: 100.5), former: nil, now: now)
    #expect(place.start == now + 100.5)
    #expect(!place.isCatchingUp)
    // Repeated requests keep the reservation.
    for seconds in [50.0, 105] {
      let again = book.place(request(latest: 100.7), former: place, now: now + seconds)
      #expect(again == place)
    }
  }

  @Test(arguments: [(4, 0.5, 1000), (8, 2.0, 1000), (1, 0.1, 300), (2, 12.0, 40), (32, 0.05, 10_000)])
  func `Many that are wanted at once begin early enough for the slots and how long a run takes`(
    slots: Int, seconds: Double, count: Int
  ) {
    var book = book(slots: slots, seconds: seconds)
    let starts = (0..<count).map { _ in
      book.place(request(latest: 3000, end: 3300), former: nil, now: now).start - now
    }
    #expect(starts.allSatisfy { $0 <= 3000 && $0 >= 0 })
    // The last run ends at most two run times and a bucket after 3000 s, long before the credentials expire at 3300 s.
    #expect(end(of: starts, slots: slots, seconds: seconds) <= 3000 + 2 * seconds + RenewalBook.width)
    // None begins much earlier than the slots require.
    let room = max(1, Double(slots) * RenewalBook.share)
    let needed = Double(count) * seconds / (seconds > RenewalBook.width ? room.rounded(.down) : room)
    #expect((starts.min() ?? 0) >= 3000 - 1.5 * needed - 4 * max(RenewalBook.width, seconds))
  }

  @Test func `One owner's renewals leave room for another's`() {
    var book = book(slots: 10, perOwner: 2, seconds: 1)
    for _ in 0..<400 { _ = book.place(request(latest: 3000, owner: 7), former: nil, now: now) }
    let other = book.place(request(latest: 3000, owner: 8), former: nil, now: now)
    #expect(other.start - now > 2990)
  }

  @Test func `None begins in the first half of a life; without room there the margin is used`() {
    var book = book(slots: 1, seconds: 1)
    let starts = (0..<30).map { _ in
      book.place(request(latest: 100, earliest: 90, end: 140), former: nil, now: now).start - now
    }
    #expect(starts.allSatisfy { $0 >= 85 && $0 < 140 })
    #expect(starts.contains { $0 > 100 })
    // When no capacity is left, further renewals overlap within the same range.
    let more = (0..<100).map { _ in
      book.place(request(latest: 100, earliest: 90, end: 140), former: nil, now: now).start - now
    }
    #expect(more.allSatisfy { $0 >= 85 && $0 < 140 })
  }

  @Test(arguments: [103.7, 104.9, 106.1, 119.5])
  func `None begins so late that its credential ends before it is there`(end: Double) {
    var book = book(slots: 4, seconds: 0.5)
    let starts = (0..<800).map { _ in
      book.place(request(latest: 100, earliest: 50, end: end), former: nil, now: now).start - now
    }
    #expect(starts.allSatisfy { $0 <= end - 2 * 0.5 + 0.001 }, "\(starts.max() ?? 0)")
  }

  @Test func `What is late is spread out, and not put off twice`() {
    var book = book(slots: 4, seconds: 1)
    var random = SeededGenerator(seed: 3)
    let places = (0..<200).map { _ in
      book.place(request(latest: -500, random: .random(in: 0...1, using: &random)), former: nil, now: now)
    }
    let starts = places.map { $0.start - now }
    #expect(places.allSatisfy { $0.isCatchingUp })
    #expect(starts.allSatisfy { $0 >= 0 })
    #expect(end(of: starts, slots: 4, seconds: 1) < 200 / 3.2 + 3 * RenewalBook.spread)
    // The 4 slots can run 20 renewals in 5 s. Only a few more begin in any 5 s.
    for cell in stride(from: 0.0, to: 80, by: 5) {
      #expect(starts.count { $0 >= cell && $0 < cell + 5 } <= 24)
    }
    let former = places.max { $0.start < $1.start }
    let later = book.place(request(latest: -500), former: former, now: now + 1000)
    #expect(later == former)
  }

  @Test func `A time that went by while the machine slept is late`() {
    var book = book(slots: 4, seconds: 1)
    let place = book.place(request(latest: 100), former: nil, now: now)
    let woken = now + 5000
    let next = book.place(request(latest: 100), former: place, now: woken)
    #expect(next.isCatchingUp)
    #expect((0...RenewalBook.spread + RenewalBook.width).contains(next.start - woken))
  }

  @Test func `Places that are given back are given again`() {
    var book = book(slots: 1, seconds: 1)
    let first = book.place(request(latest: 1000), former: nil, now: now)
    let others = (0..<20).map { _ in book.place(request(latest: 1000), former: nil, now: now) }
    #expect(others.allSatisfy { $0.start <= first.start })
    for other in others { book.release(other) }
    book.release(first)
    let again = book.place(request(latest: 1000), former: nil, now: now)
    #expect(again.start == first.start)
  }

  @Test func `All places are given anew when the providers have become slower`() {
    var book = RenewalBook()
    func pace(_ seconds: Double) -> BridgePace { BridgePace(slots: 2, slotsPerOwner: 2, seconds: seconds) }
    var changes = [book.set(pace(0.1), now: now)]
    let former = (0..<100).map { _ in book.place(request(latest: 2000), former: nil, now: now) }
    changes += [book.set(pace(0.14), now: now), book.set(pace(2), now: now), book.set(pace(9), now: now)]
    #expect(changes == [false, false, true, false])
    let starts = former.map { book.place(request(latest: 2000), former: $0, now: now).start - now }
    #expect(end(of: starts, slots: 2, seconds: 2) <= 2010)
    #expect(end(of: former.map { $0.start - now }, slots: 2, seconds: 2) > 2050, "or there was nothing to do")
  }
}
