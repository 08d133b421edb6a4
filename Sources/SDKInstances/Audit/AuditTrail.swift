public import DelegateBridge
import JSONRPC
public import SDKProtocol
public import StateStore
import Synchronization

/// The audit: hears how calls, provider runs and events end and writes down what has to be
/// (`Packaging/documentation/audit.md`).
///
/// It does no input or output but a look at a caller's process, never on an event loop; the sink must not wait.
public final class AuditTrail: CallObserver {
  /// Takes records; bounded, and counts what it loses.
  public typealias Sink = @Sendable (AuditRecord) -> Void

  private let sink: Sink
  private let clock: MonotonicClock
  private let tally = Mutex(AuditTally())
  private let served = Mutex(Served())

  /// Not a function in the mutex: `Renewals` says why.
  private struct Served {
    weak var registry: InstanceRegistry?
  }

  /// A trail that writes to a sink.
  public init(clock: MonotonicClock = .system, sink: @escaping Sink) {
    self.clock = clock
    self.sink = sink
  }

  /// From now on records say of which kind an instance is.
  public func serve(_ registry: InstanceRegistry) {
    served.withLock { $0.registry = registry }
  }

  public func hearer(of method: (any SDKMethod.Type)?) -> CallHearer? {
    let rule = method.map { AuditRule($0) } ?? .none
    return { call in self.hear(call, rule) }
  }

  private func hear(_ call: borrowing EndedCall, _ rule: AuditRule) {
    if let error = call.failure {
      if AuditRule.refusals.contains(error.reason) {
        count(call, .refusal, what: error.reason, program: nil) { .refusal(error, call, kind: self.kind(of: call)) }
      } else if rule == .each, !AuditRule.isNoCall(error) {
        sink(.call(call, kind: kind(of: call)))
      }
      return
    }
    if let credential = call.handedOut {
      // By whichever method: what counts is who has which credential.
      count(call, .credential, method: "", what: credential.tokenId.description, program: call.process) {
        .credential(credential, call, kind: self.kind(of: call))
      }
    }
    switch rule {
    case .each: sink(.call(call, kind: kind(of: call)))
    case .counted: count(call, .call, what: "", program: call.process) { .call(call, kind: self.kind(of: call)) }
    case .none: return
    }
  }

  /// An event has become durable.
  public func heard(_ event: StoredEvent) { AuditRecord(event).map(sink) }

  /// A provider has been run.
  public func heard(_ run: EndedRun) { sink(AuditRecord(run)) }

  /// Writes the counts since the last time: once a minute, and at the end.
  public func flush() {
    for record in tally.withLock({ $0.flush(at: clock.now()) }) { sink(record) }
  }

  private func count(
    _ call: borrowing EndedCall, _ kind: AuditRecord.Kind, method: String? = nil, what: String,
    program: PeerProcess?, _ record: () -> AuditRecord
  ) {
    let key = AuditTally.Key(
      kind: kind, uid: call.peer.uid, program: program, method: method ?? call.method?.name ?? "",
      instance: call.instance?.name ?? "", what: what)
    let now = clock.now()
    if tally.withLock({ $0.bump(key, now) }) { return }
    // Made outside the lock, which all calls of the daemon share.
    let first = record()
    for record in tally.withLock({ $0.add(key, at: now, first) }) { sink(record) }
  }

  private func kind(of call: borrowing EndedCall) -> KindName? {
    guard let instance = call.instance else { return nil }
    return served.withLock { $0.registry }?.kind(ofInstance: instance)
  }
}
