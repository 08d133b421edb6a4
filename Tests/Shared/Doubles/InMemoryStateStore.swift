import Cryptography
public import SDKProtocol
import Synchronization

@testable public import StateStore

/// A store without persistence, for tests of the code above a store. It has the semantics of the store on disk.
public final class InMemoryStateStore: StateStore {
  private struct Contents {
    var state = InMemoryState()
    var failures = 0
    var failsAfterWriting = false
    var failure = SDKError.storeUnavailable("The disk is full; free some space and try again.")
    var commits = 0
    var undemanded = 0
    var health = StoreHealth.ok
    var failedWipes: [InstanceUUID: [FailedWipe]] = [:]
    var failedNotes = 0
    var failsNotesAfterCommit = false
    var noteHold: (@Sendable () async -> Void)?
  }

  private let contents = Mutex(Contents())
  private let clock: @Sendable () -> Timestamp
  private let retention: EventRetention
  public let cursors: CursorCoder
  public let identityDigests = IdentityDigests()
  public let meta: StoreMeta

  /// Creates an empty store.
  public init(
    clock: @escaping @Sendable () -> Timestamp = { .now }, retention: EventRetention = EventRetention(),
    stateID: String = InstanceUUID.random().description, restartCount: Int = 0
  ) {
    self.clock = clock
    self.retention = retention
    cursors = CursorCoder(key: SymmetricKey(), stateID: stateID)
    meta = StoreMeta(stateID: stateID, restartCount: restartCount)
  }

  public func load() async throws(SDKError) -> StoredState {
    contents.withLock { contents in
      var state = StoredState(
        instances: contents.state.instances, quarantined: contents.state.quarantined, deleted: contents.state.deleted)
      for index in state.instances.indices {
        state.instances[index].take(contents.failedWipes[state.instances[index].uuid] ?? [])
      }
      return state
    }
  }

  public func note(failedWipes: [String: UInt64], of instance: InstanceUUID) async throws(SDKError) {
    let hold = contents.withLock { $0.noteHold }
    await hold?()
    let error = contents.withLock { contents -> SDKError? in
      guard contents.failedNotes == 0 else {
        contents.failedNotes -= 1
        return contents.failure
      }
      contents.failedWipes[instance] = failedWipes.map { FailedWipe(service: $0.key, storageEpoch: $0.value) }
      return nil
    }
    if let error { throw error }
  }

  /// The services of an instance whose failed wipe is noted, also if the note is obsolete.
  public func notedWipes(of instance: InstanceUUID) -> [String] {
    contents.withLock { $0.failedWipes[instance]?.map(\.service).sorted() ?? [] }
  }

  /// Makes the next notes of failed wipes fail.
  public func failNextNotes(_ count: Int) {
    contents.withLock { contents in
      contents.failedNotes = max(0, count)
      contents.failsNotesAfterCommit = false
    }
  }

  /// Makes all notes of failed wipes wait for the end of `body`, as on a disk that hangs.
  public func holdNotes(until body: @escaping @Sendable () async -> Void) {
    contents.withLock { $0.noteHold = body }
  }

  /// Makes all notes of failed wipes fail once the next change is applied, as after a kill at that moment.
  public func failNotesAfterNextCommit() { contents.withLock { $0.failsNotesAfterCommit = true } }

  public func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult {
    let time = clock()
    let result: Result<CommitResult, SDKError> = contents.withLock { contents in
      guard contents.failures == 0 else {
        contents.failures -= 1
        contents.health = .degraded(contents.failure.message)
        if contents.failsAfterWriting, var done = try? contents.state.apply(change, at: time) {
          done.unfinished = contents.failure
          return .success(done)
        }
        return .failure(contents.failure)
      }
      var state = contents.state
      do throws(SDKError) {
        let result = try state.apply(change, at: time)
        contents.state = state
        contents.commits += 1
        if contents.failsNotesAfterCommit { contents.failedNotes = .max }
        if !change.isDemanded { contents.undemanded += 1 }
        contents.health = .ok
        return .success(result)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  public func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? {
    contents.withLock { $0.state.value(of: instance, key: key) }
  }

  public func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)] {
    contents.withLock { $0.state.keys(of: instance) }
  }

  public func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys? {
    contents.withLock { $0.state.page(of: instance, after: key, limit: limit) }
  }

  public func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent] {
    contents.withLock { $0.state.events(after: position, limit: limit) }
  }

  public func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage {
    contents.withLock { $0.state.page(after: position, limit: limit, of: instances) }
  }

  public var health: StoreHealth { contents.withLock { $0.health } }

  /// The number of changes applied, not counting those of `failNextCommits`.
  public var commitCount: Int { contents.withLock { $0.commits } }

  /// The number of changes applied for which no caller waited.
  public var undemandedCount: Int { contents.withLock { $0.undemanded } }

  /// Makes the next commits fail as on a full disk, or with another error.
  ///
  /// - Parameter afterWriting: whether the change is still applied and reported as unfinished, as when an old key can't
  ///   be removed.
  public func failNextCommits(_ count: Int, with error: SDKError? = nil, afterWriting: Bool = false) {
    contents.withLock { contents in
      contents.failures = max(0, count)
      contents.failsAfterWriting = afterWriting
      if let error { contents.failure = error }
    }
  }

  /// Makes an instance unreadable; `load` then reports it as quarantined.
  public func quarantine(_ instance: InstanceUUID, problem: String = "Its rows do not open; delete it.") {
    contents.withLock { $0.state.quarantine(instance, problem: problem) }
  }

  /// Removes the events beyond retention now. The store on disk does this at intervals.
  public func applyRetention() async {
    let time = clock()
    contents.withLock { $0.state.retain(retention, at: time) }
  }
}
