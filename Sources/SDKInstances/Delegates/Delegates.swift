public import DelegateBridge
public import Logging
public import SDKProtocol
import StateStore
import Synchronization

/// The connections that are attached with `delegate.attach` (sdkd-protocol(7)).
///
/// A question goes to the delegate attached last, then to the earlier ones. A delegate that fails, times out or has
/// lost the role is skipped.
public final class Delegates: AnswerSource {
  struct State {
    var seats = DelegateSeats()
    weak var registry: InstanceRegistry?
  }

  let state = Mutex(State())
  let operations: Operations
  let logger: Logger
  let clock: WallClock
  let replyTime: Duration
  /// The time for which questions wait for a lost delegate to attach again.
  private let graceNow: Mutex<Duration>
  private let memory: (any DelegateMemory)?
  private let deadlines: Deadlines?
  private let saving: Mutex<Saving>

  /// Creates a table without attachments. Questions wait for the delegates of the instances in `memory` as for lost
  /// ones.
  ///
  /// - Parameters:
  ///   - grace: how long to wait for a lost delegate, also after a restart, before `noProvider` is reported.
  ///   - replyTime: how long to wait for the reply to a completed attach, which only has to be written.
  ///   - deadlines: schedules the update of the memory after the grace.
  ///   - memory: keeps over a restart which instances had a delegate.
  public init(
    grace: Duration = .seconds(30), replyTime: Duration = .seconds(1), clock: WallClock = .system,
    operations: Operations, logger: Logger, deadlines: Deadlines? = nil, memory: (any DelegateMemory)? = nil
  ) {
    graceNow = Mutex(grace)
    self.replyTime = replyTime
    self.clock = clock
    self.operations = operations
    self.logger = logger
    self.memory = memory
    self.deadlines = deadlines
    let expected = memory?.load() ?? []
    saving = Mutex(Saving(saved: expected))
    let now = ContinuousClock.now
    state.withLock { state in for uuid in expected { state.seats.expect(uuid, lostAt: now) } }
    if !expected.isEmpty { rememberAfterGrace() }
  }

  /// The time for which questions wait for a lost delegate to attach again.
  var grace: Duration { graceNow.withLock { $0 } }

  /// Changes `grace`, also for delegates that were lost before.
  public func use(grace: Duration) {
    graceNow.withLock { $0 = grace }
    rememberAfterGrace()
  }

  /// Sets the registry, which determines the peers' roles on instances. Until then no delegate gets questions.
  public func serve(_ registry: InstanceRegistry) { state.withLock { $0.registry = registry } }

  // MARK: Attaching

  /// Makes a connection the preferred delegate of all of the instances, or of none.
  ///
  /// - Throws: `tooManyInstances`, `tooManySubscriptions`.
  func attach(_ session: ClientSession, to instances: [HostedInstance], timeout: Duration) async throws(SDKError) {
    let result = state.withLock { state in
      Result { () throws(SDKError) in
        try state.seats.attach(
          session, to: instances.map { ($0.id, $0.uuid.description) }, timeout: timeout)
      }
    }
    await tell(try result.get(), isAttached: true)
  }

  /// Lets a connection get questions, because the reply to `attach` is on its way.
  func activate(_ session: ClientSession) { state.withLock { $0.seats.activate(session) } }

  /// Detaches a connection from instances. Ids that it is not attached to are ignored.
  ///
  /// - Returns: the instances that it was attached to.
  func detach(_ session: ClientSession, from ids: [InstanceID]) async -> Set<InstanceID> {
    let ids = Set(ids)
    let detached = state.withLock { state in
      state.seats.attachments(of: session).filter { ids.contains($0.instance) }.compactMap {
        state.seats.detach(session, from: $0.uuid)
      }
    }
    await tell(detached, isAttached: false)
    return Set(detached.map(\.instance))
  }

  /// Detaches a connection from all instances.
  func detachAll(_ session: ClientSession) async { await remove(session, isLost: false) }

  /// Detaches a connection that has ended. Questions of its instances wait for a delegate during `grace`.
  func end(_ session: ClientSession) async { await remove(session, isLost: true) }

  private func remove(_ session: ClientSession, isLost: Bool) async {
    let now = ContinuousClock.now
    let removed = state.withLock { state in
      state.seats.attachments(of: session).compactMap {
        state.seats.detach(session, from: $0.uuid, lostAt: isLost ? now : nil)
      }
    }
    await tell(removed, isAttached: false)
    if isLost, !removed.isEmpty { rememberAfterGrace() }
  }

  /// Ends all waits for lost delegates, because the daemon stops.
  public func close() { state.withLock { $0.seats.close() } }

  /// The number of attachments, over all instances.
  public var count: Int { state.withLock { $0.seats.count } }

  /// The connections with attachments.
  public var links: [(session: ObjectIdentifier, link: any ClientLink)] {
    state.withLock { $0.seats.sessions }.map { ($0.key, $0.link) }
  }

  // MARK: Telling

  /// The number of instances to notify at a time, so that the store commits their events together.
  private static let tellingWidth = 32

  private func tell(_ changed: [DelegateSeats.Attachment], isAttached: Bool) async {
    guard !changed.isEmpty else { return }
    remember()
    let instances = changed.compactMap { hosted($0) }
    await withTaskGroup(of: Void.self) { group in
      for (index, instance) in instances.enumerated() {
        if index >= Self.tellingWidth { await group.next() }
        group.addTask { await instance.delegateChanged(isAttached: isAttached) }
      }
    }
  }

  private func hosted(_ attachment: DelegateSeats.Attachment) -> HostedInstance? {
    let registry = state.withLock { $0.registry }
    guard let instance = registry?.hosted(attachment.instance), instance.uuid.description == attachment.uuid else {
      return nil
    }
    return instance
  }

  /// Removes an attachment whose peer no longer has the role control.
  func dismiss(_ attachment: DelegateSeats.Attachment) {
    let removed = state.withLock { $0.seats.detach(attachment.session, from: attachment.uuid) }
    guard let removed else { return }
    operations.start { await self.tell([removed], isAttached: false) }
  }

  /// Whether the attached peer still has the role control on the instance.
  func mayAnswer(_ attachment: DelegateSeats.Attachment) -> Bool {
    let registry = state.withLock { $0.registry }
    guard let registry, let instance = hosted(attachment) else { return false }
    return registry.mayDelegate(attachment.session.link.peer, for: instance)
  }

  // MARK: Over a restart

  /// The last saved contents of `memory`, and whether a write is in progress.
  private struct Saving {
    var saved: Set<String>
    var isRunning = false
    /// Whether the contents may have changed since the write in progress began.
    var isStale = false
  }

  /// Saves the current contents in `memory`. One write runs at a time; all changes during a write are saved by the next
  /// one.
  private func remember() {
    guard let memory else { return }
    let isFirst = saving.withLock { saving in
      saving.isStale = true
      defer { saving.isRunning = true }
      return !saving.isRunning
    }
    guard isFirst else { return }
    operations.start { [self] in
      while let noted = nextToSave() { await memory.save(noted) }
    }
  }

  /// Returns the next contents to save in `memory`; `nil` if they are saved already, which ends the series of writes.
  private func nextToSave() -> Set<String>? {
    saving.withLock { saving in
      while saving.isStale {
        saving.isStale = false
        let noted = state.withLock { $0.seats.noted(grace: grace, now: .now) }
        guard noted != saving.saved else { continue }
        saving.saved = noted
        return noted
      }
      saving.isRunning = false
      return nil
    }
  }

  /// Saves the contents of `memory` again when `grace` has passed. Delegates that are still lost then are removed from
  /// it.
  private func rememberAfterGrace() {
    guard memory != nil else { return }
    let time = clock.now() + grace / .seconds(1) + 0.1
    deadlines?.set("delegates", at: time) { [weak self] in self?.remember() }
  }

  // MARK: AnswerSource

  public func attachedCount(of key: BridgeKey) -> Int { state.withLock { $0.seats.count(of: key.instance) } }

  public func hasDelegate(_ key: BridgeKey) -> Bool {
    state.withLock { state in
      state.seats.count(of: key.instance) > 0
        || state.seats.expected(key.instance, grace: grace, now: .now) != nil
    }
  }

  public func forget(_ key: BridgeKey) {
    state.withLock { $0.seats.forget(key.instance) }
    remember()
  }

  public func answer(
    _ question: BridgeQuestion, of key: BridgeKey, waits: Bool
  ) async throws(SDKError) -> BridgeAnswer? {
    try await ask(question, key.instance, waits: waits)
  }
}
