import HeapModule
import Randomness

/// A simulation of a fleet of clients, in simulated time.
enum Fleet {
  private struct Event: Comparable {
    var time: Double
    var client: Int

    static func < (one: Event, other: Event) -> Bool {
      one.time == other.time ? one.client < other.client : one.time < other.time
    }
  }

  /// Returns the arrivals of the fleet's requests at the vendor in a scenario.
  static func run<C: Client>(
    _ scenario: Scenario, daemons: Int, seed: UInt64, make: () -> C
  ) -> Arrivals {
    var chance = SeededGenerator(seed: seed)
    var arrivals = Arrivals(duration: scenario.duration)
    var clients = (0..<daemons).map { _ in make() }
    var ends = [Double](repeating: .infinity, count: daemons)
    var hasFailed = [Bool](repeating: false, count: daemons)
    var events = Heap<Event>()
    for client in clients.indices {
      events.insert(Event(time: chance.part() * scenario.logins, client: client))
    }
    while let event = events.popMin(), event.time < scenario.duration {
      let (now, client) = (event.time, event.client)
      if let later = clients[client].holdsBack(at: now, &chance) {
        events.insert(Event(time: later, client: client))
        continue
      }
      arrivals.note(now)
      let next: Double
      if scenario.outage.contains(now) {
        hasFailed[client] = true
        next = clients[client].failed(at: now, &chance)
      } else {
        if hasFailed[client] { arrivals.lastRecovery = now }
        if now > ends[client] { arrivals.lapses += 1 }
        hasFailed[client] = false
        ends[client] = now + scenario.lifetime
        next = clients[client].obtained(at: now, lifetime: scenario.lifetime, &chance)
      }
      events.insert(Event(time: next, client: client))
    }
    return arrivals
  }
}
