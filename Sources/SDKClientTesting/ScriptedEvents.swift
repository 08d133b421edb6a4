internal import SDKClient

/// The emitted events and the subscriptions to them. Not synchronized: the owner must guard it.
struct ScriptedEvents {
  private struct Kept {
    let event: Event
    let labels: [String: String]
  }

  private struct Subscription {
    let name: String
    let filter: EventsSubscribe.Params
    weak var connection: ScriptedConnection?
    var isPaused = false
  }

  private var kept: [Kept] = []
  /// The number of the last event, from which its cursor is made.
  private var last = 0
  private var subscriptions: [Subscription] = []
  private var names = 0

  var subscriptionCount: Int { subscriptions.count { $0.connection?.isClosed == false } }

  private static func cursor(_ number: Int) -> String { "event-\(number)" }

  /// Keeps an event and sends it to the matching subscriptions. Returns it with its cursor.
  mutating func add(_ event: Event, labels: [String: String]) -> Event {
    last += 1
    var event = event
    event.cursor = Self.cursor(last)
    // At millisecond precision, as in messages.
    event.time = Timestamp(event.time.description) ?? event.time
    let new = Kept(event: event, labels: labels)
    kept.append(new)
    for subscription in subscriptions { Self.send(new, to: subscription) }
    return event
  }

  mutating func forget() {
    kept = []
    // Makes the cursor of the last event unknown too.
    last += 1
  }

  mutating func subscribe(_ params: EventsSubscribe.Params, _ connection: ScriptedConnection) -> EventsSubscribe.Result
  {
    names += 1
    var subscription = Subscription(name: "subscription-\(names)", filter: params, connection: connection)
    let begin = Self.cursor(last)
    if let since = params.since { replay(since, to: &subscription) }
    subscriptions.append(subscription)
    return EventsSubscribe.Result(subscription: subscription.name, cursor: params.since ?? begin)
  }

  mutating func resume(_ name: String, _ since: String, _ connection: ScriptedConnection) {
    guard let index = index(name, connection) else { return }
    subscriptions[index].isPaused = false
    replay(since, to: &subscriptions[index])
  }

  mutating func unsubscribe(_ name: String, _ connection: ScriptedConnection) {
    if let index = index(name, connection) { subscriptions.remove(at: index) }
  }

  mutating func remove(_ connection: ScriptedConnection) {
    subscriptions.removeAll { $0.connection == nil || $0.connection === connection }
  }

  private func index(_ name: String, _ connection: ScriptedConnection) -> Int? {
    subscriptions.firstIndex { $0.name == name && $0.connection === connection }
  }

  /// Sends the events after a cursor, or a gap if the cursor is not known any more.
  private func replay(_ since: String, to subscription: inout Subscription) {
    let isKnown =
      since == Self.cursor(last) || kept.contains { $0.event.cursor == since }
      || (kept.first.map { $0.event.cursor == Self.cursor(1) } ?? false) && since == Self.cursor(0)
    guard isKnown else {
      subscription.isPaused = true
      subscription.connection?.notify(
        method: EventsGap.name,
        params: [
          "subscription": .string(subscription.name), "from": .string(since), "resume": .string(Self.cursor(last)),
        ])
      return
    }
    let start = kept.firstIndex { $0.event.cursor == since }.map { $0 + 1 }
    let missed = since == Self.cursor(last) ? [] : kept[(start ?? 0)...]
    for event in missed { Self.send(event, to: subscription) }
  }

  private static func send(_ kept: Kept, to subscription: Subscription) {
    let filter = subscription.filter
    guard !subscription.isPaused, filter.instances.map({ $0.contains(kept.event.instance) }) ?? true,
      filter.types.map({ $0.contains(kept.event.type) }) ?? true,
      (filter.labels ?? [:]).allSatisfy({ kept.labels[$0.key] == $0.value }),
      let event = try? JSONValueEncoder.encode(kept.event)
    else { return }
    subscription.connection?.notify(
      method: EventsEvent.name, params: ["subscription": .string(subscription.name), "event": event])
  }
}
