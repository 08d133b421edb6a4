import JSONRPC
import SDKProtocol
import StateStore

/// The subscriptions of a connection on their way to the next daemon.
struct HandedSubscriptions: Codable, Sendable {
  /// A subscription.
  struct Item: Codable, Sendable {
    var name: String
    var instances: [String]?
    var labels: [String: String]
    var types: [EventType]?
    /// The cursor from which delivery continues; `nil` if the subscriber's own belongs to another state.
    var cursor: String?
    /// The last cursor that the subscriber knows.
    var lastCursor: String?
    /// Whether the subscriber has yet to resume after a gap.
    var isPaused: Bool
  }

  /// The number of subscriptions that the connection has had.
  var made = 0
  var items: [Item] = []
}

extension EventHub {
  /// Removes the subscriptions of a connection and returns them, each with the cursor of the last event that was
  /// delivered or skipped.
  func handOver(_ session: ObjectIdentifier) -> HandedSubscriptions {
    var handed = HandedSubscriptions(made: table.made(of: session))
    for subscription in table.all(of: session) {
      var place = subscription.place
      if subscription.phase == .live { place.position = max(place.position, told) }
      handed.items.append(
        HandedSubscriptions.Item(
          name: subscription.name, instances: subscription.filter.instances?.map(\.name).sorted(),
          labels: subscription.filter.labels, types: subscription.filter.types.map { Array($0) },
          cursor: subscription.isForeign ? nil : cursors.encode(place), lastCursor: subscription.lastCursor,
          isPaused: subscription.phase == .paused))
    }
    table.end(session)
    return handed
  }

  /// Continues subscriptions of an earlier daemon. They count within the limits, but none is refused.
  func adopt(_ handed: HandedSubscriptions, of session: ObjectIdentifier, on link: any ClientLink) {
    table.setMade(handed.made, of: session)
    for item in handed.items where table.find(item.name, of: session) == nil {
      let instances = item.instances?.compactMap { InstanceID($0) }
      var place: EventPlace?
      if case .place(let known)? = item.cursor.map(cursors.read) { place = known }
      let subscription = table.add(to: session, named: item.name) { id, name in
        Subscription(
          id: id, name: name, link: link, session: session,
          filter: EventFilter(instances: instances, labels: item.labels, types: item.types), place: place)
      }
      subscription.lastCursor = item.lastCursor
      if item.isPaused { table.setPhase(.paused, of: subscription) } else { activate(subscription.id) }
    }
  }
}
