public import Logging
public import SDKProtocol
import Synchronization

/// The connections that are attached with `delegate.attach` (sdkd-protocol(7)).
///
/// A question goes to the delegate attached last, then to the earlier ones. A delegate that fails, times out or has
/// lost the role is skipped, also if it loses the role or detaches before it answers.
public final class DelegateTable<Connection: DelegateConnection>: AnswerSource {
  let seats = Mutex(DelegateSeats<Connection>())
  private let instances: any DelegatedInstances<Connection>
  let logger: Logger
  let now: @Sendable () -> Timestamp
  let replyTime: Duration
  /// The time for which questions wait for a lost delegate to attach again.
  private let graceNow: Mutex<Duration>
  private let memory: (any DelegateMemory)?
  private let start: Start
  private let later: Later
  private let saving: Mutex<Saving>

  /// Starts work that runs to its end, and returns at once.
  public typealias Start = @Sendable (_ work: @escaping @Sendable () async -> Void) -> Void
  /// Calls a function at a time, in place of one that was set before. The function is quick.
  public typealias Later = @Sendable (_ time: Timestamp, _ work: @escaping @Sendable () -> Void) -> Void

  /// Creates a table without attachments. Questions wait for the delegates of the instances in `memory` as for lost
  /// ones.
  ///
  /// - Parameters:
  ///   - instances: know the peers' roles, and are told of attached and detached delegates.
  ///   - grace: how long to wait for a lost delegate, also after a restart, or for one that is being attached, if there
  ///     is no provider.
  ///   - replyTime: how long to wait for a delegate that is being attached before another one is asked.
  ///   - memory: keeps over a restart which instances had a delegate.
  ///   - now: the clock of the deadlines of questions.
  ///   - start: starts what need not be waited for.
  ///   - later: schedules the update of the memory after the grace.
  public init(
    instances: any DelegatedInstances<Connection>, grace: Duration = .seconds(30), replyTime: Duration = .seconds(1),
    logger: Logger,
    memory: (any DelegateMemory)? = nil, now: @escaping @Sendable () -> Timestamp, start: @escaping Start,
    later: @escaping Later = { _, _ in }
  ) {
    self.instances = instances
    graceNow = Mutex(grace)
    self.replyTime = replyTime
    self.now = now
    self.start = start
    self.later = later
    self.logger = logger
    self.memory = memory
    let expected = memory?.load() ?? []
    saving = Mutex(Saving(saved: expected))
    let lostAt = ContinuousClock.now
    seats.withLock { seats in for uuid in expected { seats.expect(uuid, lostAt: lostAt) } }
    if !expected.isEmpty { rememberAfterGrace() }
  }

  /// The time for which questions wait for a lost delegate to attach again.
  var grace: Duration { graceNow.withLock { $0 } }

  /// Changes `grace`, also for delegates that were lost before.
  public func use(grace: Duration) {
    graceNow.withLock { $0 = grace }
    rememberAfterGrace()
  }

  /// The maximum number of instances of one connection.
  public static var maximumPerConnection: Int { DelegateSeats<Connection>.maximumPerConnection }

  // MARK: Attaching

  /// Makes a connection the preferred delegate of all of the instances, or of none.
  ///
  /// - Throws: `tooManyInstances`, `tooManySubscriptions`.
  public func attach(
    _ connection: Connection, to instances: [DelegatedInstance], timeout: Duration?
  ) async throws(SDKError) {
    let result = seats.withLock { seats in
      Result { () throws(SDKError) in try seats.attach(connection, to: instances, timeout: timeout) }
    }
    await tell(try result.get(), isAttached: true)
  }

  /// Lets a connection get questions, because the reply to `attach` is on its way.
  public func activate(_ connection: Connection) { seats.withLock { $0.activate(connection) } }

  /// Detaches a connection from instances. Ids that it is not attached to are ignored.
  ///
  /// - Returns: the instances that it was attached to.
  public func detach(_ connection: Connection, from ids: [InstanceID]) async -> Set<InstanceID> {
    let ids = Set(ids)
    let detached = seats.withLock { seats in
      seats.attachments(of: connection).filter { ids.contains($0.instance.id) }.compactMap {
        seats.detach(connection, from: $0.instance.uuid)
      }
    }
    await tell(detached, isAttached: false)
    return Set(detached.map(\.instance.id))
  }

  /// Detaches a connection from all instances.
  public func detachAll(_ connection: Connection) async { await remove(connection, isLost: false) }

  /// Detaches a connection that has ended. Questions of its instances wait for a delegate during `grace`.
  public func end(_ connection: Connection) async { await remove(connection, isLost: true) }

  private func remove(_ connection: Connection, isLost: Bool) async {
    let now = ContinuousClock.now
    let removed = seats.withLock { seats in
      seats.attachments(of: connection).compactMap {
        seats.detach(connection, from: $0.instance.uuid, lostAt: isLost ? now : nil)
      }
    }
    await tell(removed, isAttached: false)
    if isLost, !removed.isEmpty { rememberAfterGrace() }
  }

  /// The number of attachments, over all instances.
  public var count: Int { seats.withLock { $0.count } }

  /// The connections with attachments.
  public var connections: [Connection] { seats.withLock { $0.connections } }

  // MARK: Telling

  /// The number of instances to notify at a time, so that the store commits their events together.
  private static var tellingWidth: Int { 32 }

  private func tell(_ changed: [DelegateSeats<Connection>.Attachment], isAttached: Bool) async {
    guard !changed.isEmpty else { return }
    remember()
    await withTaskGroup(of: Void.self) { group in
      for (index, attachment) in changed.enumerated() {
        if index >= Self.tellingWidth { await group.next() }
        group.addTask { [instances] in await instances.delegateChanged(attachment.instance, isAttached: isAttached) }
      }
    }
  }

  /// Removes an attachment whose peer no longer has the role control.
  func dismiss(_ attachment: DelegateSeats<Connection>.Attachment) {
    let removed = seats.withLock { $0.detach(attachment.connection, from: attachment.instance.uuid) }
    guard let removed else { return }
    start { await self.tell([removed], isAttached: false) }
  }

  /// Whether the attached peer still has the role control on the instance.
  func mayAnswer(_ attachment: DelegateSeats<Connection>.Attachment) -> Bool {
    instances.mayAnswer(attachment.connection, for: attachment.instance)
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
    start { [self] in
      while let noted = nextToSave() { await memory.save(noted) }
    }
  }

  /// Returns the next contents to save in `memory`; `nil` if they are saved already, which ends the series of writes.
  private func nextToSave() -> Set<String>? {
    saving.withLock { saving in
      while saving.isStale {
        saving.isStale = false
        let noted = seats.withLock { $0.noted(grace: grace, now: .now) }
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
    later(now() + grace / .seconds(1) + 0.1) { [weak self] in self?.remember() }
  }

  // MARK: AnswerSource

  public func attachedCount(of key: BridgeKey) -> Int { seats.withLock { $0.count(of: key.instance) } }

  public func hasDelegate(_ key: BridgeKey) -> Bool {
    seats.withLock { seats in
      seats.count(of: key.instance) > 0
        || seats.expected(key.instance, except: [], grace: grace, now: .now) != nil
    }
  }

  public func grace(of key: BridgeKey) -> Duration? {
    seats.withLock { $0.expected(key.instance, except: [], grace: grace, now: .now)?.left }
  }

  public func forget(_ key: BridgeKey) {
    seats.withLock { $0.forget(key.instance) }
    remember()
  }

  public func answer(
    _ question: BridgeQuestion, of key: BridgeKey, waits: Bool
  ) async throws(SDKError) -> BridgeAnswer? {
    try await ask(question, key.instance, waits: waits)
  }
}
