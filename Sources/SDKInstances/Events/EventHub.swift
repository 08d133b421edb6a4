import Concurrency
import DequeModule
import JSONRPC
public import Logging
public import SDKProtocol
public import StateStore

/// A hub that delivers events to subscribers, in the order of their positions. A subscriber that does not read does not
/// delay the others: past a bound it gets `events.gap` and is paused.
public actor EventHub {
  let store: any StateStore
  nonisolated var cursors: CursorCoder { store.cursors }
  let operations: Operations
  let logger: Logger
  let directory: any EventDirectory

  var table = SubscriptionTable()
  var handedCursors: HandedCursors
  /// The adopted subscriptions that wait for `catchUp`, by their numbers.
  var heldBack: [UInt64] = []
  private nonisolated let inbox: EventInbox
  /// The time to wait for a missing event, when later ones are known, before it is read from the store.
  private let patience: Duration
  private var isLookingForMissing = false
  /// The position of the last event that was delivered.
  private(set) var told: UInt64 = 0 {
    didSet { wakeReaders() }
  }
  /// The callers of `settle` that wait, each until the event at a position has been delivered.
  private(set) var readers: [(position: UInt64, outcome: Promise<Void>)] = []
  /// The newest events, so that subscribers slightly behind need no disk access.
  private(set) var recent = Deque<EventText>()

  private let onEvent: @Sendable (StoredEvent) -> Void
  /// Returns the limits that hold now.
  private let limits: @Sendable () -> SubscriptionLimits
  private var gaps = 0
  private static let recentCapacity = 512
  /// The number of unsent bytes of a connection at which its subscription is paused.
  static let maximumUnsentBytes = 512 << 10
  static let pageSize = 256
  /// The number of events after which the hub yields to other work.
  private static let burst = 64

  /// Creates a hub over a store.
  ///
  /// - Parameters:
  ///   - directory: decides which peers see which events.
  ///   - limits: returns the limits that hold now. Existing subscriptions stay even beyond them.
  ///   - patience: the time to wait for a missing event when later ones are known.
  ///   - inboxCapacity: the number of events that wait in memory for delivery; further ones are read from the store.
  ///   - onEvent: called for each durable event, in no particular order; must be quick.
  public init(
    store: any StateStore, directory: any EventDirectory, operations: Operations, logger: Logger,
    limits: @escaping @Sendable () -> SubscriptionLimits = { SubscriptionLimits() },
    patience: Duration = .seconds(5), inboxCapacity: Int = 4096,
    onEvent: @escaping @Sendable (StoredEvent) -> Void = { _ in }
  ) {
    self.onEvent = onEvent
    self.limits = limits
    self.store = store
    handedCursors = HandedCursors(store.cursors)
    self.directory = directory
    self.operations = operations
    self.logger = logger
    self.patience = patience
    inbox = EventInbox(capacity: inboxCapacity)
  }

  /// Starts delivery after the store's newest event.
  public func begin() async throws(SDKError) {
    told = try await store.newestPosition()
    inbox.begin(after: told)
    holdBack()
  }

  /// Returns as soon as the actor runs this call. The watchdog uses it as a health probe.
  public func answer() {}

  /// Queues committed events for delivery. Returns without waiting for subscribers.
  public nonisolated func append(_ events: [StoredEvent]) {
    for event in events { onEvent(event) }
    guard !events.isEmpty, inbox.add(events) else { return }
    operations.start { await self.deliver() }
  }

  /// The number of committed events that wait in memory for delivery.
  public nonisolated var waitingCount: Int { inbox.count }

  /// The newest position that was appended to the hub.
  nonisolated var newestKnown: UInt64 { inbox.newest }

  /// Waits until all events up to a position are delivered, but at most for `patience`. Events are in the store before
  /// their instance shows the effect.
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

  /// Adds a subscription. It delivers nothing until `activate`, so that the reply is sent first.
  ///
  /// - Parameter since: where delivery begins; `nil` for the next event. A `foreign` cursor begins with a gap.
  /// - Throws: `tooManySubscriptions`.
  func subscribe(
    _ link: any ClientLink, session: ObjectIdentifier, filter: EventFilter, since: CursorReading?, text: String?,
    isAdmin: Bool
  ) throws(SDKError) -> (id: UInt64, name: String, cursor: String) {
    if !isAdmin, let refusal = limits().refusal(of: link, on: session, in: table) {
      throw SDKError(.limit, .tooManySubscriptions, "\(refusal); end one with events.unsubscribe.")
    }
    let place: EventPlace? =
      switch since {
      // An event can be reported late, after later ones of other instances. It must not be skipped.
      case nil: EventPlace(max(told, inbox.contiguous))
      case .place(let place): place
      case .foreign, .malformed: nil
      }
    let subscription = table.add(to: session) { id, name in
      Subscription(id: id, name: name, link: link, session: session, filter: filter, place: place)
    }
    // A caller's cursor is returned as it is, even if it turns out to be too old: then the gap is reported again.
    let cursor = text ?? cursors.encode(subscription.place)
    subscription.lastCursor = cursor
    return (subscription.id, subscription.name, cursor)
  }

  /// Starts delivery: first the events after the cursor, then new ones.
  func activate(_ id: UInt64) {
    guard let subscription = table[id], subscription.phase == .waiting, !goLive(subscription) else { return }
    table.setPhase(.replaying, of: subscription)
    operations.start { await self.replay(id) }
  }

  /// Ends a subscription of a session. Returns `false` if the session has none of this name.
  func unsubscribe(_ name: String, session: ObjectIdentifier) -> Bool {
    guard let subscription = table.find(name, of: session) else { return false }
    table.remove(subscription)
    return true
  }

  /// Prepares a paused subscription to resume at a cursor. Delivery starts with `activate`.
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

  /// The result of `resume`.
  enum Resumption {
    case resumed(UInt64)
    case notPaused
    case unknown
  }

  /// Removes the subscriptions of a connection that has ended.
  public func end(_ session: ObjectIdentifier) { table.end(session) }

  /// Sends a line of the protocol to every subscribed connection and to `others`, once to each.
  public func announce(_ line: [UInt8], to others: [ClientSession] = []) {
    var told = Set<ObjectIdentifier>()
    for other in others where told.insert(other.key).inserted { other.link.send(line) }
    for subscription in table.all where told.insert(subscription.session).inserted { subscription.link.send(line) }
  }

  /// The statistics of the subscriptions.
  public struct Standing: Sendable, Hashable {
    /// The number of subscriptions.
    public var subscriptions: Int
    /// The number of subscriptions that wait for `events.resume` after a gap.
    public var paused: Int
    /// The number of events that the slowest of the other subscriptions has yet to receive or skip.
    public var lag: UInt64
    /// The number of gaps reported since the start.
    public var gaps: Int
  }

  /// The current statistics.
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
    guard !interested.isEmpty else { return }
    let audience = directory.audience(of: event.uuid, id: event.id)
    for subscription in interested where subscription.place.position < event.position {
      offer(text, audience, to: subscription)
    }
  }

  private func offer(_ text: EventText, _ audience: EventAudience, to subscription: Subscription) {
    guard !subscription.link.isClosed else { return table.remove(subscription) }
    // The role is checked first: a filter then takes time only for events that its caller may see.
    guard audience.admits(subscription.link.peer), subscription.filter.admits(text.event, of: audience) else { return }
    guard subscription.link.unsentBytes < Self.maximumUnsentBytes else {
      subscription.place.position = text.event.position - 1
      return pause(subscription)
    }
    subscription.send(text)
  }

  /// Pauses a subscription and reports a gap after the delivered events. Resuming at the gap's `resume` cursor loses no
  /// event that is still retained.
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

  /// Waits for `patience`, then reads events from the store if the next event was still not appended to the hub. Its
  /// `append` may be late, or may have been skipped by a failure after the commit, such as a destroyed key that could
  /// not be removed from the log. It is also missing if the inbox was full.
  private func lookForMissing() {
    guard !isLookingForMissing else { return }
    isLookingForMissing = true
    let (start, newest) = (told, inbox.newest)
    operations.startBackground {
      try? await Task.sleep(for: self.patience)
      guard !Task.isCancelled else { return }
      await self.readMissing(after: start, through: newest)
    }
  }

  /// Reads missing events from the store, page after page.
  ///
  /// - Parameters:
  ///   - start: the position that delivery had reached when the wait began. If it has continued since, nothing is read.
  ///   - newest: the newest known position at that time. The events up to it have had their time to arrive.
  private func readMissing(after start: UInt64, through newest: UInt64) async {
    isLookingForMissing = false
    guard told == start else { return await deliver() }
    logger.notice("Events were committed but not reported; they are read from the store and emitted.")
    do throws(SDKError) {
      var former = start
      repeat {
        former = told
        let page = try await store.eventPage(after: former, limit: Self.pageSize, of: nil)
        for event in page.events { tell(event) }
        told = max(told, page.reached)
        inbox.skip(to: told)
      } while told > former && told < newest
    } catch {
      logger.error("Events can't be read for subscribers: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
    await deliver()
  }
}
