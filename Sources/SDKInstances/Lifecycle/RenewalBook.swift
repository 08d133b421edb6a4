import DelegateBridge
import SDKProtocol

/// The renewal schedule: reserves times for renewals, so that the concurrent runs of providers suffice for all that are
/// due.
///
/// A value type without a clock. Time is divided into buckets (cells). In a bucket, a renewal takes a share of the
/// seconds that all providers have there together. It gets the latest bucket with free capacity before it is wanted.
/// Renewals that are due in the same minute thus begin one after the other, and the last begins when a lone one would.
/// A late renewal gets the next bucket with free capacity. Part of the capacity is left to renewals that a caller waits
/// for.
struct RenewalBook: Sendable {
  /// The seconds of a time bucket.
  static let width = 5.0
  /// The fraction of the providers' time that can be reserved.
  static let share = 0.8
  /// The seconds that a run is assumed to take before one was observed.
  static let assumedRun = 0.5
  /// The minimum of the seconds that a run is assumed to take.
  static let shortestRun = 0.05
  /// The minimum seconds between two replacements of all reservations.
  static let pause = 30.0
  /// The seconds past its reserved start after which a renewal that has not begun counts as late.
  static let tolerance = 10.0
  /// The range in seconds over which late renewals are spread at random.
  static let spread = 10.0
  /// The number of time buckets that are searched for capacity: an hour and a half.
  private static let reach = 1080

  private struct Spot: Hashable, Sendable {
    /// The uid of the owner; `nil` for all owners together.
    var owner: UInt32?
    var cell: Int
  }

  private var loads: [Spot: Double] = [:]
  /// The seconds of a run that the current reservations assume.
  private(set) var run = Self.assumedRun
  private(set) var generation: UInt64 = 0
  private var slowedAt: Timestamp?
  private var slots = 1.0
  private var slotsPerOwner = 1.0

  /// Creates a schedule without reservations.
  init() {}

  /// Sets the current number of concurrent runs and the typical duration of a run.
  ///
  /// - Returns: whether all reservations must be made again, because the providers have become much slower.
  mutating func set(_ pace: BridgePace, now: Timestamp) -> Bool {
    slots = Self.room(of: pace.slots)
    slotsPerOwner = Self.room(of: pace.slotsPerOwner)
    let seconds = max(pace.seconds ?? Self.assumedRun, Self.shortestRun)
    // The capacity that is left free absorbs small changes.
    if seconds < run / 2 { run = seconds }
    guard seconds > 1.5 * run else { return false }
    if let slowedAt, (0..<Self.pause).contains(now - slowedAt) { return false }
    slowedAt = now
    run = seconds
    generation += 1
    loads = [:]
    return true
  }

  /// Returns the reservation of a renewal: its former one, or a new one that replaces it.
  mutating func place(_ request: RenewalRequest, former: RenewalPlace?, now: Timestamp) -> RenewalPlace {
    if let former, former.generation == generation, former.request.isLike(request) {
      // A late renewal is not postponed again.
      if former.isCatchingUp || now - former.start < Self.tolerance { return former }
    }
    release(former)
    prune(now)
    guard request.latest > now else { return late(request, now) }
    return early(request, now) ?? later(request, from: request.latest, until: request.end) ?? crowded(request, now)
  }

  /// Releases a reservation.
  mutating func release(_ place: RenewalPlace?) {
    guard let place, place.generation == generation else { return }
    take(place.cells, -place.load, place.request.owner)
  }

  // MARK: Looking for room

  private mutating func late(_ request: RenewalRequest, _ now: Timestamp) -> RenewalPlace {
    // A credential that has not expired is renewed before its expiry if there is capacity.
    let left = request.end.map { $0 - now } ?? 0
    let from = now + request.random * (left > 0 ? min(Self.spread, left / 2) : Self.spread)
    return later(request, from: from, until: nil, isCatchingUp: true)
      ?? give(request, Self.cell(from), start: from, isCatchingUp: true)
  }

  private mutating func early(_ request: RenewalRequest, _ now: Timestamp) -> RenewalPlace? {
    let last = Self.cell(request.latest)
    let first = max(Self.cell(max(request.earliest, now)), last - Self.reach)
    for cell in stride(from: last, through: first, by: -1) where hasRoom(cell, request.owner) {
      let filled = used(cell, request.owner)
      let begin = Timestamp(secondsSince1970: Double(cell) * Self.width)
      // A lone renewal begins at its latest time; others fill the bucket backwards from its end.
      let start = filled == 0 && cell == last ? request.latest : begin + Self.width * max(0, 1 - filled)
      return give(request, cell, start: max(min(start, request.latest), min(request.earliest, request.latest)))
    }
    return nil
  }

  private mutating func later(
    _ request: RenewalRequest, from: Timestamp, until end: Timestamp?, isCatchingUp: Bool = false
  ) -> RenewalPlace? {
    let first = Self.cell(from)
    let last = min(end.map { Self.cell($0 + -2 * run) } ?? .max, first + Self.reach)
    guard first <= last else { return nil }
    for cell in first...last where hasRoom(cell, request.owner) {
      let begin = Timestamp(secondsSince1970: Double(cell) * Self.width)
      let start = max(from, begin + Self.width * min(1, used(cell, request.owner)))
      // The rest of the last bucket may lie after the expiry.
      if let end, start > end + -2 * run { continue }
      return give(request, cell, start: start, isCatchingUp: isCatchingUp)
    }
    return nil
  }

  /// Reserves a random time within the request's range, although no bucket has free capacity.
  private mutating func crowded(_ request: RenewalRequest, _ now: Timestamp) -> RenewalPlace {
    let earliest = max(min(request.earliest, request.latest), now)
    let start = earliest + request.random * max(0, request.latest - earliest)
    return give(request, Self.cell(start), start: start)
  }

  private mutating func give(
    _ request: RenewalRequest, _ cell: Int, start: Timestamp, isCatchingUp: Bool = false
  ) -> RenewalPlace {
    let place = RenewalPlace(
      request: request, start: start, isCatchingUp: isCatchingUp, cells: cell..<(cell + length), load: load,
      generation: generation)
    take(place.cells, load, request.owner)
    return place
  }

  // MARK: Cells

  /// The number of time buckets that a run takes.
  private var length: Int { max(1, Int((run / Self.width).rounded(.up))) }
  /// The part of each time bucket's seconds that a run takes.
  private var load: Double { min(1, run / Self.width) }

  private func hasRoom(_ cell: Int, _ owner: UInt32) -> Bool {
    (cell..<(cell + length)).allSatisfy {
      loads[Spot(owner: nil, cell: $0), default: 0] + load <= slots + 0.000_1
        && loads[Spot(owner: owner, cell: $0), default: 0] + load <= slotsPerOwner + 0.000_1
    }
  }

  /// Returns the used fraction of a bucket's capacity: that of the owner or that of all owners, whichever is larger.
  private func used(_ cell: Int, _ owner: UInt32) -> Double {
    max(
      loads[Spot(owner: nil, cell: cell), default: 0] / slots,
      loads[Spot(owner: owner, cell: cell), default: 0] / slotsPerOwner)
  }

  private mutating func take(_ cells: Range<Int>, _ load: Double, _ owner: UInt32) {
    for cell in cells {
      for spot in [Spot(owner: nil, cell: cell), Spot(owner: owner, cell: cell)] {
        let next = loads[spot, default: 0] + load
        loads[spot] = next > 0.000_1 ? next : nil
      }
    }
  }

  private mutating func prune(_ now: Timestamp) {
    guard loads.count > 8192 else { return }
    let current = Self.cell(now)
    loads = loads.filter { $0.key.cell >= current }
  }

  private static func room(of slots: Int) -> Double { max(1, Double(slots) * share) }

  private static func cell(_ time: Timestamp) -> Int {
    Int(min(max(time.secondsSince1970, 0), 1e12) / width)
  }
}
