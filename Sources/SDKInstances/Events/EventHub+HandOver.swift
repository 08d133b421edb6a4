import JSONRPC
import SDKProtocol
import StateStore

/// The subscriptions of a connection on their way to the next daemon.
struct HandedSubscriptions: Sendable {
  /// A subscription.
  struct Item: Sendable {
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

/// The form in which subscriptions are passed on. Written without `Codable`, which takes several times as long: a
/// restart waits for all connections.
extension HandedSubscriptions {
  var json: JSON { ["made": JSON(made), "items": .array(items.map(\.json))] }

  /// Reads subscriptions; `nil` if a member is missing or invalid.
  init?(_ json: JSON) {
    guard let made = json["made"]?.intValue, let elements = json["items"]?.arrayValue else { return nil }
    let items = elements.compactMap { Item($0) }
    guard items.count == elements.count else { return nil }
    self.init(made: made, items: items)
  }
}

extension HandedSubscriptions.Item {
  fileprivate var json: JSON {
    var object: JSONObject = ["name": .string(name)]
    object["instances"] = instances.map { JSON.array($0.map(JSON.string)) }
    object["labels"] = .object(JSONObject(labels.map { ($0.key, JSON.string($0.value)) }))
    object["types"] = types.map { types in JSON.array(types.map { JSON.string($0.rawValue) }) }
    object["cursor"] = cursor.map(JSON.string)
    object["lastCursor"] = lastCursor.map(JSON.string)
    object["isPaused"] = .bool(isPaused)
    return .object(object)
  }

  fileprivate init?(_ json: JSON) {
    guard let name = json["name"]?.stringValue, let labels = json["labels"]?.objectValue?.members,
      let isPaused = json["isPaused"]?.boolValue
    else { return nil }
    let (instances, types) = (json["instances"], json["types"])
    self.init(
      name: name, instances: instances?.texts, labels: [:], types: types?.texts?.compactMap(EventType.init(rawValue:)),
      cursor: json["cursor"]?.stringValue, lastCursor: json["lastCursor"]?.stringValue, isPaused: isPaused)
    for label in labels { self.labels[label.key] = label.value.stringValue }
    // A filter must not become wider.
    guard self.labels.count == labels.count, self.instances?.count == instances?.arrayValue?.count,
      self.types?.count == types?.arrayValue?.count, (self.types == nil) == (types == nil),
      (self.instances == nil) == (instances == nil)
    else { return nil }
  }
}

extension JSON {
  /// The strings of an array, without its other elements; `nil` if this is no array.
  fileprivate var texts: [String]? { arrayValue?.compactMap(\.stringValue) }
}

/// The cursors that travel with subscriptions. The last one is kept, because most subscriptions have the same place. No
/// client gets such a cursor, so that equal ones reveal nothing.
struct HandedCursors {
  private let coder: CursorCoder
  private var last: (place: EventPlace, cursor: String)?

  init(_ coder: CursorCoder) { self.coder = coder }

  /// Returns a cursor of a place.
  mutating func cursor(of place: EventPlace) -> String {
    if let last, last.place == place { return last.cursor }
    let cursor = coder.encode(place)
    last = (place, cursor)
    return cursor
  }

  /// Returns the place of a cursor; `nil` for a cursor of another state.
  mutating func place(of cursor: String) -> EventPlace? {
    if let last, last.cursor == cursor { return last.place }
    guard case .place(let place) = coder.read(cursor) else { return nil }
    last = (place, cursor)
    return place
  }
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
          cursor: subscription.isForeign ? nil : handedCursors.cursor(of: place), lastCursor: subscription.lastCursor,
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
      let place = item.cursor.flatMap { handedCursors.place(of: $0) }
      let subscription = table.add(to: session, named: item.name) { id, name in
        Subscription(
          id: id, name: name, link: link, session: session,
          filter: EventFilter(instances: instances, labels: item.labels, types: item.types), place: place)
      }
      subscription.lastCursor = item.lastCursor
      if item.isPaused { table.setPhase(.paused, of: subscription) } else { activate(subscription.id) }
    }
  }

  /// Stops delivery to the subscriptions that were adopted while the state could not be used. The instances and the
  /// access rules decide who sees events, and come into force later.
  func holdBack() {
    for subscription in table.all where subscription.phase == .live {
      table.setPhase(.waiting, of: subscription)
      heldBack.append(subscription.id)
    }
  }

  /// Continues the subscriptions that `begin` has held back.
  func catchUp() {
    for id in heldBack { activate(id) }
    heldBack = []
  }
}
