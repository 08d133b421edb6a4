import DequeModule
import JSONRPC
public import Logging
public import SDKProtocol
public import StateStore

/// Who is told what happens. Events are delivered in the order of their positions; a subscriber that does not read
/// costs the others nothing: past a bound it gets `events.gap` and is paused.
public actor EventHub {
  /// Whether a subscriber may see an event now.
  public typealias Visibility = @Sendable (StoredEvent, Peer) -> Bool
  /// The labels of an instance, for filters.
  public typealias Labels = @Sendable (InstanceID) -> [String: String]?

  let store: any StateStore
  nonisolated var cursors: CursorCoder { store.cursors }
  let operations: Operations
  let logger: Logger
  private var isVisible: Visibility = { _, _ in false }
  private var labels: Labels = { _ in nil }

  private var subscriptions: [String: Subscription] = [:]
  private var bySession: [ObjectIdentifier: Set<String>] = [:]
  private var names: UInt64 = 0

  /// Events that were committed but whose predecessors have not been reported yet.
  private var early: [UInt64: StoredEvent] = [:]
  private var delivered: UInt64 = 0
  /// The newest events, so that a reader close behind needs no disk.
  private var recent = Deque<StoredEvent>()

  private let onEvent: @Sendable (StoredEvent) -> Void
  /// How many subscriptions a connection may have, unless it is an admin's.
  private let maximumSubscriptions: Int
  private static let recentCapacity = 512
  /// How much may wait for a subscriber's connection.
  static let maximumUnsentBytes = 1 << 20
  private static let pageSize = 128

  /// A hub over a store.
  ///
  /// - Parameter onEvent: hears of each event once it is durable, in no certain order; must be quick.
  public init(
    store: any StateStore, operations: Operations, logger: Logger, maximumSubscriptions: Int = 16,
    onEvent: @escaping @Sendable (StoredEvent) -> Void = { _ in }
  ) {
    self.onEvent = onEvent
    self.maximumSubscriptions = maximumSubscriptions
    self.store = store
    self.operations = operations
    self.logger = logger
  }

  /// Begins at the store's newest event.
  public func begin(isVisible: @escaping Visibility, labels: @escaping Labels) async throws(SDKError) {
    self.isVisible = isVisible
    self.labels = labels
    delivered = try await store.eventBounds().newest
  }

  /// Takes committed events and tells subscribers of all whose turn it is.
  public func append(_ events: [StoredEvent]) {
    for event in events { onEvent(event) }
    for event in events where event.position > delivered { early[event.position] = event }
    while let event = early.removeValue(forKey: delivered + 1) {
      delivered += 1
      recent.append(event)
      if recent.count > Self.recentCapacity { recent.removeFirst() }
      for subscription in subscriptions.values where subscription.phase == .live {
        deliver(event, to: subscription.name)
      }
    }
  }

  // MARK: Subscriptions

  /// A new subscription, silent until `activate`, so that its reply can go first.
  ///
  /// - Throws: `tooManySubscriptions`.
  public func subscribe(
    _ link: any ClientLink, session: ObjectIdentifier, filter: EventFilter, since: String?, isAdmin: Bool
  ) throws(SDKError) -> (name: String, cursor: String) {
    if !isAdmin, bySession[session, default: []].count >= maximumSubscriptions {
      throw SDKError(
        .limit, .tooManySubscriptions,
        "A connection has at most \(maximumSubscriptions) subscriptions; end one with events.unsubscribe.")
    }
    names += 1
    let name = "s\(names)"
    var subscription = Subscription(name: name, link: link, session: session, filter: filter)
    if let since {
      subscription.position = cursors.decode(since)
      subscription.hasForeignCursor = subscription.position == nil
    } else {
      subscription.position = delivered
    }
    subscriptions[name] = subscription
    bySession[session, default: []].insert(name)
    return (name, cursors.encode(subscription.position ?? delivered))
  }

  /// Begins delivery: first what came after the cursor, then what happens.
  public func activate(_ name: String) {
    guard let subscription = subscriptions[name], subscription.phase == .waiting else { return }
    subscriptions[name]?.phase = .replaying
    operations.start { await self.replay(name, checksGap: true) }
  }

  /// Ends a subscription of a session.
  public func unsubscribe(_ name: String, session: ObjectIdentifier) -> Bool {
    guard subscriptions[name]?.session == session else { return false }
    subscriptions[name] = nil
    bySession[session]?.remove(name)
    return true
  }

  /// Goes on after a gap.
  public func resume(_ name: String, since: String, session: ObjectIdentifier) -> Bool {
    guard subscriptions[name]?.session == session, let position = cursors.decode(since) else { return false }
    guard subscriptions[name]?.phase == .paused else { return true }
    subscriptions[name]?.position = position
    subscriptions[name]?.phase = .waiting
    return true
  }

  /// The connection has ended.
  public func end(_ session: ObjectIdentifier) {
    for name in bySession.removeValue(forKey: session) ?? [] { subscriptions[name] = nil }
  }

  /// Tells every subscribed connection and some others something, once each.
  public func announce(_ line: [UInt8], to others: [(session: ObjectIdentifier, link: any ClientLink)] = []) {
    var told = Set<ObjectIdentifier>()
    for other in others where told.insert(other.session).inserted { other.link.send(line) }
    for subscription in subscriptions.values where told.insert(subscription.session).inserted {
      subscription.link.send(line)
    }
  }

  /// How many subscriptions there are.
  public var count: Int { subscriptions.count }

  // MARK: Reading

  /// Visible events after a position, oldest first, and the position up to which was read.
  public func list(
    after position: UInt64, filter: EventFilter, peer: Peer, limit: Int, maximumBytes: Int
  ) async throws(SDKError) -> (events: [Event], position: UInt64, isEnd: Bool) {
    var found: [Event] = []
    var reached = position
    var bytes = 0
    while true {
      let page = try await store.events(after: reached, limit: Self.pageSize)
      if page.isEmpty { return (found, max(reached, min(delivered, reached)), true) }
      for event in page {
        guard matches(event, filter), isVisible(event, peer) else {
          reached = event.position
          continue
        }
        let shape = shape(event)
        let size = (try? JSONValueEncoder.encode(shape)).map { JSONWriter.bytes(of: $0).count } ?? 0
        if found.count == limit || (!found.isEmpty && bytes + size > maximumBytes) { return (found, reached, false) }
        bytes += size
        found.append(shape)
        reached = event.position
      }
    }
  }

  // MARK: Delivery

  private func matches(_ event: StoredEvent, _ filter: EventFilter) -> Bool {
    filter.matches(event, labels: filter.labels.isEmpty ? nil : labels(event.id))
  }

  private func shape(_ event: StoredEvent) -> Event {
    Event(
      cursor: cursors.encode(event.position), time: event.time, instance: event.id, kind: event.kind,
      service: event.service, type: event.type, operation: event.operation, data: event.data)
  }

  private func deliver(_ event: StoredEvent, to name: String) {
    guard let subscription = subscriptions[name] else { return }
    // A call that was subscribing while its connection ended comes after `end`.
    guard !subscription.link.isClosed else {
      _ = unsubscribe(name, session: subscription.session)
      return
    }
    if matches(event, subscription.filter), isVisible(event, subscription.link.peer) {
      guard subscription.link.unsentBytes < Self.maximumUnsentBytes else {
        return pause(subscription, resumeAt: subscription.position ?? event.position)
      }
      send(EventsEvent.self, .init(subscription: name, event: shape(event)), to: subscription.link)
    }
    subscriptions[name]?.position = event.position
  }

  private func replay(_ name: String, checksGap: Bool) async {
    if checksGap, await hasGap(name) { return }
    while let subscription = subscriptions[name], subscription.phase == .replaying {
      let position = subscription.position ?? delivered
      if position >= delivered {
        subscriptions[name]?.phase = .live
        return
      }
      let page: [StoredEvent]
      do throws(SDKError) {
        page = try await events(after: position)
      } catch {
        logger.error("Events can't be read for a subscriber: \(error.message)")
        return pause(subscription, resumeAt: position)
      }
      guard subscriptions[name]?.phase == .replaying else { return }
      if page.isEmpty {
        subscriptions[name]?.position = delivered
        continue
      }
      for event in page where subscriptions[name]?.phase == .replaying { deliver(event, to: name) }
    }
  }

  private func events(after position: UInt64) async throws(SDKError) -> [StoredEvent] {
    if let first = recent.first, first.position <= position + 1 {
      return Array(recent.drop { $0.position <= position }.prefix(Self.pageSize))
    }
    return try await store.events(after: position, limit: Self.pageSize).filter { $0.position <= delivered }
  }

  private func hasGap(_ name: String) async -> Bool {
    guard let subscription = subscriptions[name] else { return true }
    guard let bounds = try? await store.eventBounds() else { return false }
    if !subscription.hasForeignCursor, let position = subscription.position, position >= bounds.dropped { return false }
    subscriptions[name]?.hasForeignCursor = false
    pause(subscription, resumeAt: bounds.dropped, isFromKnown: !subscription.hasForeignCursor)
    return true
  }

  private func pause(_ subscription: Subscription, resumeAt position: UInt64, isFromKnown: Bool = true) {
    subscriptions[subscription.name]?.phase = .paused
    let from = isFromKnown ? subscription.position.map(cursors.encode) : nil
    send(
      EventsGap.self,
      .init(subscription: subscription.name, from: from, resume: cursors.encode(position)), to: subscription.link)
  }

  private func send<N: RPCNotification>(_ type: N.Type, _ params: N.Params, to link: any ClientLink) {
    guard let json = try? JSONValueEncoder.encode(params) else { return }
    link.send(RPCText.notification(method: N.name, params: json))
  }
}
