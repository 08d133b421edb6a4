import Concurrency
import DequeModule
import JSONRPC
public import Logging
public import SDKProtocol
public import StateStore

/// Who is told what happens. Events are delivered in the order of their positions; a subscriber that does not read
/// costs the others nothing: past a bound it gets `events.gap` and is paused.
public actor EventHub {
  let store: any StateStore
  nonisolated var cursors: CursorCoder { store.cursors }
  let operations: Operations
  let logger: Logger
  var directory: (any EventDirectory)?

  var table = SubscriptionTable()
  private nonisolated let inbox: EventInbox
  /// How long an event may be missing, of which later ones are known, before it is looked for in the store.
  private let patience: Duration
  private var isLookingForMissing = false
  /// The last position that was told.
  private(set) var told: UInt64 = 0 {
    didSet { wakeReaders() }
  }
  /// Readers of the log that wait until a position is told.
  private var readers: [(position: UInt64, outcome: Promise<Void>)] = []
  /// The newest events, so that a reader close behind needs no disk.
  private(set) var recent = Deque<EventText>()

  private let onEvent: @Sendable (StoredEvent) -> Void
  /// How many subscriptions a connection and all of a user's connections may have, unless they are an admin's.
  private var maximumSubscriptions: Int
  private var maximumPerUser: Int
  private var gaps = 0
  private static let recentCapacity = 512
  /// How much may wait for a subscriber's connection.
  static let maximumUnsentBytes = 512 << 10
  static let pageSize = 256
  /// After so many events others get their turn on the hub.
  private static let burst = 64

  /// A hub over a store.
  ///
  /// - Parameters:
  ///   - patience: how long to wait for an event of which later ones are known.
  ///   - inboxCapacity: how many events wait in memory for delivery; more are read from the store.
  ///   - onEvent: hears of each event once it is durable, in no certain order; must be quick.
  public init(
    store: any StateStore, operations: Operations, logger: Logger, maximumSubscriptions: Int = 16,
    maximumPerUser: Int = 256, patience: Duration = .seconds(5), inboxCapacity: Int = 4096,
    onEvent: @escaping @Sendable (StoredEvent) -> Void = { _ in }
  ) {
    self.onEvent = onEvent
    self.maximumSubscriptions = maximumSubscriptions
    self.maximumPerUser = maximumPerUser
    self.store = store
    self.operations = operations
    self.logger = logger
    self.patience = patience
    inbox = EventInbox(capacity: inboxCapacity)
  }

  /// Begins at the store's newest event.
  public func begin(_ directory: any EventDirectory) async throws(SDKError) {
    self.directory = directory
    told = try await store.eventBounds().newest
    inbox.begin(after: told)
  }

  /// Returns when the actor has its turn: the watchdog's question.
  public func answer() {}

  /// Other bounds, for subscriptions from now on; those that are there stay.
  public func use(maximumSubscriptions: Int, maximumPerUser: Int) {
    self.maximumSubscriptions = maximumSubscriptions
    self.maximumPerUser = maximumPerUser
  }

  /// Takes committed events, of which subscribers are told in their turn; waits for none of them.
  public nonisolated func append(_ events: [StoredEvent]) {
    for event in events { onEvent(event) }
    guard !events.isEmpty, inbox.add(events) else { return }
    operations.start { await self.deliver() }
  }

  /// How many committed events subscribers have not been told of yet.
  public nonisolated var waitingCount: Int { inbox.count }

  /// The newest position of which the hub has heard.
  nonisolated var newestKnown: UInt64 { inbox.newest }

  /// Waits until all events up to a position are reported: they are in the store before an instance shows what they
  /// tell of. One that is never reported is waited for as long as when later ones are known.
  func settle(through position: UInt64) async {
    guard position > told else { return }
    let outcome = Promise<Void>()
    readers.append((position, outcome))
    try? await withTimeout(patience) { try await outcome.value() }
    readers.removeAll { $0.outcome === outcome }
  }

  private func wakeReaders() {
    guard !readers.isEmpty else { return }
    for reader in readers where reader.position <= told { reader.outcome.resolve(.success(())) }
    readers.removeAll { $0.position <= told }
  }

  // MARK: Subscriptions

  /// A new subscription, silent until `activate`, so that its reply can go first.
  ///
  /// - Parameter since: where it begins; `nil`: with what happens from now on; `foreign`: with a gap.
  /// - Throws: `tooManySubscriptions`.
  func subscribe(
    _ link: any ClientLink, session: ObjectIdentifier, filter: EventFilter, since: CursorReading?, text: String?,
    isAdmin: Bool
  ) throws(SDKError) -> (id: UInt64, name: String, cursor: String) {
    if !isAdmin, table.count(of: session) >= maximumSubscriptions {
      throw SDKError(
        .limit, .tooManySubscriptions,
        "A connection has at most \(maximumSubscriptions) subscriptions; end one with events.unsubscribe.")
    }
    if !isAdmin, table.count(ofUser: link.peer.uid) >= maximumPerUser {
      throw SDKError(
        .limit, .tooManySubscriptions,
        "All connections of a user have at most \(maximumPerUser) subscriptions; end one with events.unsubscribe.")
    }
    let place: EventPlace? =
      switch since {
      case nil: EventPlace(max(told, inbox.newest))
      case .place(let place): place
      case .foreign, .malformed: nil
      }
    let subscription = table.add(to: session) { id, name in
      Subscription(id: id, name: name, link: link, session: session, filter: filter, place: place)
    }
    // Whoever gives a cursor begins there, even when it turns out to be too old: then the gap is told again.
    let cursor = text ?? cursors.encode(subscription.place)
    subscription.lastCursor = cursor
    return (subscription.id, subscription.name, cursor)
  }

  /// Begins delivery: first what came after the cursor, then what happens.
  func activate(_ id: UInt64) {
    guard let subscription = table[id], subscription.phase == .waiting else { return }
    table.setPhase(.replaying, of: subscription)
    operations.start { await self.replay(id) }
  }

  /// Ends a subscription of a session; false if it has none of this name.
  func unsubscribe(_ name: String, session: ObjectIdentifier) -> Bool {
    guard let subscription = table.find(name, of: session) else { return false }
    table.remove(subscription)
    return true
  }

  /// Goes on after a gap, when `activate` is called.
  func resume(_ name: String, since: CursorReading, session: ObjectIdentifier) -> Resumption {
    guard let subscription = table.find(name, of: session) else { return .unknown }
    guard subscription.phase == .paused else { return .notPaused }
    if case .place(let place) = since {
      subscription.place = place
      subscription.isForeign = false
    } else {
      subscription.isForeign = true
    }
    subscription.isCompared = false
    table.setPhase(.waiting, of: subscription)
    return .resumed(subscription.id)
  }

  /// What became of a wish to go on.
  enum Resumption {
    case resumed(UInt64)
    case notPaused
    case unknown
  }

  /// The connection has ended.
  public func end(_ session: ObjectIdentifier) { table.end(session) }

  /// Tells every subscribed connection and some others something, once each.
  public func announce(_ line: [UInt8], to others: [(session: ObjectIdentifier, link: any ClientLink)] = []) {
    var told = Set<ObjectIdentifier>()
    for other in others where told.insert(other.session).inserted { other.link.send(line) }
    for subscription in table.all where told.insert(subscription.session).inserted { subscription.link.send(line) }
  }

  /// How the subscriptions stand.
  public struct Standing: Sendable, Hashable {
    /// How many there are.
    public var subscriptions: Int
    /// How many of these wait for `events.resume` after a gap.
    public var paused: Int
    /// How many events the slowest of the others has still to be told or to pass over.
    public var lag: UInt64
    /// How many gaps were told since the start.
    public var gaps: Int
  }

  /// How the subscriptions stand now.
  public var standing: Standing {
    let waiting = inbox.newest - min(told, inbox.newest)
    let behind = table.all.lazy.filter { $0.phase == .replaying }.map { [told] in told - min(told, $0.place.position) }
    return Standing(
      subscriptions: table.count, paused: table.all.count { $0.phase == .paused },
      lag: waiting + (behind.max() ?? 0), gaps: gaps)
  }

  // MARK: Delivery

  private func deliver() async {
    var count = 0
    while true {
      switch inbox.next() {
      case .event(let event): tell(event)
      case .missing: return lookForMissing()
      case .nothing: return
      }
      count += 1
      if count.isMultiple(of: Self.burst) { await Task.yield() }
    }
  }

  private func tell(_ event: StoredEvent) {
    guard event.position > told else { return }
    told = event.position
    let text = EventText(event, cursors: cursors)
    recent.append(text)
    if recent.count > Self.recentCapacity { recent.removeFirst() }
    let interested = table.live(for: event.id)
    guard !interested.isEmpty, let audience = directory?.audience(of: event.uuid, id: event.id) else { return }
    for subscription in interested where subscription.place.position < event.position {
      offer(text, audience, to: subscription)
    }
  }

  private func offer(_ text: EventText, _ audience: EventAudience, to subscription: Subscription) {
    guard !subscription.link.isClosed else { return table.remove(subscription) }
    // The role first: a caller's filter costs only the caller's own events time.
    guard audience.admits(subscription.link.peer), subscription.filter.admits(text.event, of: audience) else { return }
    guard subscription.link.unsentBytes < Self.maximumUnsentBytes else {
      subscription.place.position = text.event.position - 1
      return pause(subscription)
    }
    subscription.send(text)
  }

  /// Tells of a gap after what was delivered; going on at its `resume` loses nothing that is still kept.
  func pause(_ subscription: Subscription) {
    table.setPhase(.paused, of: subscription)
    gaps += 1
    let gap = EventsGap.Params(
      subscription: subscription.name, from: subscription.isForeign ? nil : subscription.lastCursor,
      resume: cursors.encode(subscription.place))
    subscription.isForeign = false
    guard let json = try? JSONValueEncoder.encode(gap) else { return }
    subscription.link.send(RPCText.notification(method: EventsGap.name, params: json))
  }

  // MARK: Missing events

  /// Whoever committed the next event has not reported it: it may be about to, or it was stopped in between (by a key
  /// that could not be removed from the log, say). What is on disk is told then.
  private func lookForMissing() {
    guard !isLookingForMissing else { return }
    isLookingForMissing = true
    let start = told
    operations.startBackground {
      try? await Task.sleep(for: self.patience)
      guard !Task.isCancelled else { return }
      await self.readMissing(after: start)
    }
  }

  private func readMissing(after start: UInt64) async {
    isLookingForMissing = false
    if told == start {
      do throws(SDKError) {
        let page = try await store.eventPage(after: start, limit: Self.pageSize, of: nil)
        if told == start {
          logger.notice("Events were committed but not reported; subscribers are told of them from the store.")
          for event in page.events { tell(event) }
          told = max(told, page.reached)
          inbox.skip(to: told)
        }
      } catch {
        logger.error("Events can't be read for subscribers: \(error.message)", metadata: ["reason": "\(error.reason)"])
      }
    }
    await deliver()
  }
}
