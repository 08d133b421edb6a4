public import DelegateBridge
public import Logging
public import SDKProtocol
import StateStore
import Synchronization

/// The connections that are attached with `delegate.attach` (`protocol.md`, "Delegates").
///
/// A question goes to the latest attached, then to the earlier ones. Whoever fails, takes too long or has lost the role
/// passes it on.
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
  /// How long one that was lost is expected back.
  private let graceNow: Mutex<Duration>
  private let memory: (any DelegateMemory)?
  private let deadlines: Deadlines?
  private let saving: Mutex<Saving>

  /// Nobody is attached; those that the memory names are expected back.
  ///
  /// - Parameters:
  ///   - grace: how long a delegate that was lost, also by a restart, is waited for before `noProvider` counts.
  ///   - replyTime: how long the reply to an attach that has been done may take; it is only still to be written.
  ///   - deadlines: when the memory is to be put right.
  ///   - memory: keeps over a restart who had a delegate.
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

  /// How long one that was lost is expected back.
  var grace: Duration { graceNow.withLock { $0 } }

  /// Another grace, also for those that are lost already.
  public func use(grace: Duration) {
    graceNow.withLock { $0 = grace }
    rememberAfterGrace()
  }

  /// Whose instances these are, and who has which role on them. Before, nobody is asked.
  public func serve(_ registry: InstanceRegistry) { state.withLock { $0.registry = registry } }

  // MARK: Attaching

  /// Makes a connection answer for instances, before all others; for all of them or none.
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

  /// The reply to `attach` is on its way: questions may follow it.
  func activate(_ session: ClientSession) { state.withLock { $0.seats.activate(session) } }

  /// Makes a connection answer no more for an instance; nothing happens when it does not.
  ///
  /// - Returns: whether it did.
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

  /// Makes a connection answer for nothing any more.
  func detachAll(_ session: ClientSession) async { await remove(session, isLost: false) }

  /// The connection has ended: for a while it is expected back.
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

  /// The daemon stops: nobody is expected back any more.
  public func close() { state.withLock { $0.seats.close() } }

  /// How many attachments there are, over all instances.
  public var count: Int { state.withLock { $0.seats.count } }

  /// Everybody who is attached.
  public var links: [(session: ObjectIdentifier, link: any ClientLink)] {
    state.withLock { $0.seats.sessions }.map { ($0.key, $0.link) }
  }

  // MARK: Telling

  /// Many at a time, so that the store writes them together.
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

  /// Takes an attachment away whose connection has lost the role.
  func dismiss(_ attachment: DelegateSeats.Attachment) {
    let removed = state.withLock { $0.seats.detach(attachment.session, from: attachment.uuid) }
    guard let removed else { return }
    operations.start { await self.tell([removed], isAttached: false) }
  }

  /// Whether who is attached still has control.
  func mayAnswer(_ attachment: DelegateSeats.Attachment) -> Bool {
    let registry = state.withLock { $0.registry }
    guard let registry, let instance = hosted(attachment) else { return false }
    return registry.mayDelegate(attachment.session.link.peer, for: instance)
  }

  // MARK: Over a restart

  /// What the memory holds, and whether it is being written.
  private struct Saving {
    var saved: Set<String>
    var isRunning = false
    /// Whether something has changed since the write under way began.
    var isStale = false
  }

  /// Has the memory put right, by one write at a time: changes that come meanwhile share the next one.
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

  /// What the memory must hold; `nil` when it does, and then the writing has ended.
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

  /// Who has not come back by then is not expected any more, also not after a restart.
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
