import DelegateBridge
import SDKProtocol

/// Gives renewals their place in time, so that the providers that may run at a time suffice for all that are due.
///
/// A value without a clock. Time is cut into cells; what a renewal takes of a cell is its share of the seconds that all
/// providers have there together. A renewal gets the latest cell with room before it is wanted, so many that end in
/// the same minute begin one after the other and the last begins when a lone one would. What is late already gets the
/// next cell with room. A part of the room is left to those who are asked because somebody waits.
struct RenewalBook: Sendable {
  /// The seconds of a cell.
  static let width = 5.0
  /// The part of the providers' time that is given away.
  static let share = 0.8
  /// Seconds that a run is thought to take before one was seen.
  static let assumedRun = 0.5
  /// Seconds that a run is thought to take at least.
  static let shortestRun = 0.05
  /// Seconds between two times at which all places are given anew.
  static let pause = 30.0
  /// Seconds after its start at which a renewal that has not begun is late.
  static let tolerance = 10.0
  /// Seconds by which those that are late are spread out, at random.
  static let spread = 10.0
  /// How many cells are looked at for room: an hour and a half.
  private static let reach = 1080

  private struct Spot: Hashable, Sendable {
    /// `nil` for all owners together.
    var owner: UInt32?
    var cell: Int
  }

  private var loads: [Spot: Double] = [:]
  /// Seconds that a run takes, as places are given now.
  private(set) var run = Self.assumedRun
  private(set) var generation: UInt64 = 0
  private var slowedAt: Timestamp?
  private var slots = 1.0
  private var slotsPerOwner = 1.0

  /// A book without places.
  init() {}

  /// Takes over how fast the providers are now.
  ///
  /// - Returns: whether they have become so much slower that all places must be given anew.
  mutating func set(_ pace: BridgePace, now: Timestamp) -> Bool {
    slots = Self.room(of: pace.slots)
    slotsPerOwner = Self.room(of: pace.slotsPerOwner)
    let seconds = max(pace.seconds ?? Self.assumedRun, Self.shortestRun)
    // Small changes are what the room that is kept free is for.
    if seconds < run / 2 { run = seconds }
    guard seconds > 1.5 * run else { return false }
    if let slowedAt, (0..<Self.pause).contains(now - slowedAt) { return false }
    slowedAt = now
    run = seconds
    generation += 1
    loads = [:]
    return true
  }

  /// The place of a renewal: the one that it has, or a new one in its stead.
  mutating func place(_ request: RenewalRequest, former: RenewalPlace?, now: Timestamp) -> RenewalPlace {
    if let former, former.generation == generation, former.request.isLike(request) {
      // What was late once is not put off again.
      if former.isCatchingUp || now - former.start < Self.tolerance { return former }
    }
    release(former)
    prune(now)
    guard request.latest > now else { return late(request, now) }
    return early(request, now) ?? later(request, from: request.latest, until: request.end) ?? crowded(request, now)
  }

  /// The place is free again.
  mutating func release(_ place: RenewalPlace?) {
    guard let place, place.generation == generation else { return }
    take(place.cells, -place.load, place.request.owner)
  }

  // MARK: Looking for room

  private mutating func late(_ request: RenewalRequest, _ now: Timestamp) -> RenewalPlace {
    // A credential that still lives is renewed before its end if there is room.
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
      // A lone renewal begins when it is wanted; others fill the cell from its end.
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
      // The rest of the last cell may lie past the end.
      if let end, start > end + -2 * run { continue }
      return give(request, cell, start: start, isCatchingUp: isCatchingUp)
    }
    return nil
  }

  /// There is no room: the places that there are get one more, wherever chance says.
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

  /// How many cells a run takes.
  private var length: Int { max(1, Int((run / Self.width).rounded(.up))) }
  /// What it takes of each.
  private var load: Double { min(1, run / Self.width) }

  private func hasRoom(_ cell: Int, _ owner: UInt32) -> Bool {
    (cell..<(cell + length)).allSatisfy {
      loads[Spot(owner: nil, cell: $0), default: 0] + load <= slots + 0.000_1
        && loads[Spot(owner: owner, cell: $0), default: 0] + load <= slotsPerOwner + 0.000_1
    }
  }

  /// The part of a cell's room that is taken, for this owner.
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
