import SDKProtocol

/// All subscriptions, with an index of the live ones by the instances they watch.
struct SubscriptionTable {
  private struct Session {
    var made = 0
    var byName: [String: Subscription] = [:]
  }

  private var byID: [UInt64: Subscription] = [:]
  private var sessions: [ObjectIdentifier: Session] = [:]
  private var byUser: [UInt32: Int] = [:]
  /// The number of subscriptions of strangers.
  private(set) var strangers = 0
  private var lastID: UInt64 = 0
  /// The live subscriptions: first those of some instances, then those of all.
  private var watchers: [InstanceID: [UInt64: Subscription]] = [:]
  private var generalWatchers: [UInt64: Subscription] = [:]

  var all: some Collection<Subscription> { byID.values }
  var count: Int { byID.count }
  subscript(id: UInt64) -> Subscription? { byID[id] }

  /// The subscriptions of a connection, in the order of their numbers.
  func all(of session: ObjectIdentifier) -> [Subscription] {
    (sessions[session]?.byName.values).map { $0.sorted { $0.id < $1.id } } ?? []
  }

  /// The number of subscriptions that a connection has had, from which the next name follows.
  func made(of session: ObjectIdentifier) -> Int { sessions[session]?.made ?? 0 }

  /// Sets the number of subscriptions that a connection has had in an earlier process.
  mutating func setMade(_ count: Int, of session: ObjectIdentifier) {
    sessions[session, default: Session()].made = max(made(of: session), count)
  }

  func count(of session: ObjectIdentifier) -> Int { sessions[session]?.byName.count ?? 0 }
  func count(ofUser user: UInt32) -> Int { byUser[user] ?? 0 }

  func find(_ name: String, of session: ObjectIdentifier) -> Subscription? { sessions[session]?.byName[name] }

  /// Adds a subscription. `make` creates it from its number in the hub and from a name that no other subscription of
  /// the connection has had.
  ///
  /// - Parameter name: the name that it had in an earlier process.
  mutating func add(
    to session: ObjectIdentifier, named name: String? = nil, _ make: (_ id: UInt64, _ name: String) -> Subscription
  ) -> Subscription {
    lastID += 1
    if name == nil { sessions[session, default: Session()].made += 1 }
    let made = make(lastID, name ?? "s\(made(of: session))")
    byID[made.id] = made
    byUser[made.link.peer.user, default: 0] += 1
    if made.isOfStranger { strangers += 1 }
    sessions[session, default: Session()].byName[made.name] = made
    return made
  }

  mutating func remove(_ subscription: Subscription) {
    guard byID.removeValue(forKey: subscription.id) != nil else { return }
    setPhase(.paused, of: subscription)
    let (user, left) = (subscription.link.peer.user, count(ofUser: subscription.link.peer.user) - 1)
    byUser[user] = left > 0 ? left : nil
    if subscription.isOfStranger { strangers -= 1 }
    sessions[subscription.session]?.byName[subscription.name] = nil
  }

  mutating func end(_ session: ObjectIdentifier) {
    for subscription in (sessions[session]?.byName ?? [:]).values { remove(subscription) }
    sessions[session] = nil
  }

  mutating func setPhase(_ phase: Subscription.Phase, of subscription: Subscription) {
    let wasLive = subscription.phase == .live
    subscription.phase = phase
    guard wasLive != (phase == .live) else { return }
    let entry = phase == .live ? subscription : nil
    guard let instances = subscription.filter.instances else {
      generalWatchers[subscription.id] = entry
      return
    }
    for id in instances {
      watchers[id, default: [:]][subscription.id] = entry
      if watchers[id]?.isEmpty == true { watchers[id] = nil }
    }
  }

  /// Returns the live subscriptions whose filter does not exclude an instance.
  func live(for id: InstanceID) -> [Subscription] {
    let particular = watchers[id].map { Array($0.values) } ?? []
    return generalWatchers.isEmpty ? particular : particular + generalWatchers.values
  }
}

/// The maximum numbers of subscriptions. Admins have no maximum.
public struct SubscriptionLimits: Sendable, Hashable {
  /// The subscriptions of one connection.
  public var perConnection = 16
  /// The subscriptions of all connections of a user.
  public var perUser = 256
  /// The subscriptions of all users. Strangers have a quarter of them together.
  public var total = 4096

  /// Creates the documented limits.
  public init() {}

  /// Returns why a connection can't have one more subscription, as the beginning of a sentence; `nil` if it can.
  func refusal(of link: any ClientLink, on session: ObjectIdentifier, in table: SubscriptionTable) -> String? {
    if table.count(of: session) >= perConnection { return "A connection has at most \(perConnection) subscriptions" }
    if table.count(ofUser: link.peer.user) >= perUser {
      return "All connections of a user have at most \(perUser) subscriptions"
    }
    if link.isStranger, table.strangers >= total / 4 {
      return "All callers without a role have at most \(total / 4) subscriptions together"
    }
    return table.count >= total ? "All users together have at most \(total) subscriptions" : nil
  }
}
