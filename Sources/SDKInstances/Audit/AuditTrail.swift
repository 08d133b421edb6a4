public import DelegateBridge
import JSONRPC
public import SDKProtocol
public import StateStore
import Synchronization

/// The audit trail: records the outcome of calls, provider runs, events and restores (`Packaging/documentation/audit.md`).
///
/// Its only I/O is looking up a caller's process, never on an event loop. The sink must not block.
public final class AuditTrail: CallObserver {
  /// A function that receives records. It must not block: it drops records that it can't hold, and counts them.
  public typealias Sink = @Sendable (AuditRecord) -> Void

  private let sink: Sink
  private let clock: MonotonicClock
  private let tally = Mutex(AuditTally())
  private let registry: InstanceRegistry

  /// Creates a trail that writes to a sink.
  ///
  /// - Parameter registry: knows the kinds of the instances that calls are about.
  public init(registry: InstanceRegistry, clock: MonotonicClock = .system, sink: @escaping Sink) {
    self.registry = registry
    self.clock = clock
    self.sink = sink
  }

  public func observation(of method: (any SDKMethod.Type)?) -> CallObservation? {
    let rule = method.map { AuditRule($0) } ?? .none
    return { call in self.observe(call, rule) }
  }

  private func observe(_ call: borrowing EndedCall, _ rule: AuditRule) {
    if let error = call.failure {
      if AuditRule.refusals.contains(error.reason) {
        // By the unit, which the caller can't choose, and not by the program, whose name it can.
        count(call, .refusal, what: error.reason, program: PeerProcess(unit: call.process.unit)) {
          .refusal(error, call, kind: self.kind(of: call))
        }
      } else if rule == .each, !AuditRule.isNoCall(error) {
        record(call)
      }
      return
    }
    if let credential = call.issued { observe(call, credential) }
    switch rule {
    case .each: record(call)
    case .counted: count(call, .call, what: "", program: call.process) { .call(call, kind: self.kind(of: call)) }
    case .none: return
    }
  }

  /// Writes the record of a call, or one for each of the instances that it names.
  private func record(_ call: borrowing EndedCall) {
    guard !call.instances.isEmpty else { return sink(.call(call, kind: kind(of: call))) }
    var one = copy call
    for instance in call.instances {
      one.instance = instance
      sink(.call(one, kind: kind(of: one)))
    }
  }

  private func observe(_ call: borrowing EndedCall, _ credential: EndedCall.IssuedCredential) {
    let now = clock.now()
    // Compared while locked, because a copy would cost more.
    let isCounted = call.peer.lastCredential.withLock { last in
      guard let last else { return false }
      return last.tokenId == credential.tokenId && last.instance == call.instance && last.entry.bump(now)
    }
    if isCounted { return }
    // The method is left out of the key: the audit is about which caller has which credential.
    let entry = count(call, .credential, method: "", what: credential.tokenId.description, program: call.process) {
      .credential(credential, call, kind: self.kind(of: call))
    }
    // A process that is not known yet gets a key of its own later.
    guard let entry, let instance = call.instance, call.peer.knowsProcess else { return }
    call.peer.lastCredential.withLock { $0 = .init(tokenId: credential.tokenId, instance: instance, entry: entry) }
  }

  /// Records a durable event if it changes an identity or a definition.
  public func record(_ event: StoredEvent) { AuditRecord(event).map(sink) }

  /// Records a provider's run.
  public func record(_ run: EndedRun) { sink(AuditRecord(run)) }

  /// Records how the state was opened if a backup replaced it.
  public func record(_ opening: StoreMeta) { AuditRecord(opening).map(sink) }

  /// Writes the counts since the last flush: once a minute, and at the end.
  public func flush() {
    for record in tally.withLock({ $0.flush(at: clock.now()) }) { sink(record) }
  }

  /// Counts an occurrence in the tally, and writes the record if it is the first one. Returns the entry of its key.
  @discardableResult
  private func count(
    _ call: borrowing EndedCall, _ kind: AuditRecord.Kind, method: String? = nil, what: String,
    program: PeerProcess?, _ record: () -> AuditRecord
  ) -> AuditTally.Occurrences? {
    let key = AuditTally.Key(
      kind: kind, uid: call.peer.uid, user: call.peer.user, program: program, method: method ?? call.method?.name ?? "",
      instance: call.instance?.name ?? "", what: what)
    let now = clock.now()
    if let entry = tally.withLock({ $0[key] }), entry.bump(now) { return entry }
    // Made outside the lock, which all calls of the daemon share.
    let first = record()
    let (records, entry) = tally.withLock { ($0.add(key, at: now, first), $0[key]) }
    for record in records { sink(record) }
    return entry
  }

  private func kind(of call: borrowing EndedCall) -> KindName? {
    guard let instance = call.instance else { return nil }
    return registry.kind(ofInstance: instance)
  }
}

/// The rule that decides which of a method's calls are recorded, apart from refused ones. An issued credential is
/// recorded for any method.
enum AuditRule: Hashable {
  /// Every call: it changes an identity, a definition, an instance's delegates, or the daemon.
  case each
  /// The first call of each program; later ones are counted. The method shows an admin data that only admins may see.
  case counted
  /// No call.
  case none

  init(_ method: any SDKMethod.Type) {
    let isWrite = if case .write = method.ordering { true } else { false }
    switch method.access {
    case .creator: self = .each
    case .role(let role) where role >= .control && isWrite: self = .each
    case .role(.admin): self = .counted
    // Detaching a delegate changes which delegate responds, just as attaching one does.
    case .anyone where isWrite: self = .each
    case .role, .anyone: self = .none
    }
  }

  /// The error reasons of refusals: the caller lacks a right or exceeds a limit.
  static let refusals: Set<String> = Set(
    ([
      .accessDenied, .instanceNotFound, .ownedByFile, .rateLimit, .tooManyInFlight, .tooManyInstances,
      .tooManySubscriptions, .storageFull,
    ] as [Reason]).map(\.rawValue))

  /// Whether an error means that the call never ran: it was invalid, its method is unknown, or it was cancelled.
  static func isNoCall(_ error: RPCError) -> Bool {
    (-32700 ... -32600).contains(error.code) && error.code != -32603 || error.code == RPCError.cancelled.code
  }
}
