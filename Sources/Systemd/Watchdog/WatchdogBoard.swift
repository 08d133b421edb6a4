/// Who was asked when, and who has answered: the keeping of the watchdog's books. A value, guarded by its owner.
struct WatchdogBoard {
  private struct Entry {
    var ticket: UInt64 = 0
    var askedAt: Duration?
  }

  private var entries: [Entry]
  private var lastTicket: UInt64 = 0

  init(count: Int) { entries = Array(repeating: Entry(), count: count) }

  /// Asks anew whoever has answered, and nobody else: questions don't pile up before one that is wedged.
  ///
  /// - Returns: those to ask, each with the ticket that its answer brings.
  mutating func ask(at now: Duration) -> [(index: Int, ticket: UInt64)] {
    entries.indices.filter { entries[$0].askedAt == nil }.map { index in
      lastTicket += 1
      entries[index] = Entry(ticket: lastTicket, askedAt: now)
      return (index, lastTicket)
    }
  }

  /// An answer has come.
  mutating func answer(_ index: Int, _ ticket: UInt64) {
    if entries[index].ticket == ticket { entries[index].askedAt = nil }
  }

  /// How long each has not answered; zero for those that have.
  func silence(at now: Duration) -> [Duration] {
    entries.map { entry in entry.askedAt.map { max(.zero, now - $0) } ?? .zero }
  }
}
