import Concurrency
public import DelegateBridge
public import JSONRPC
import SDKProtocol
import Synchronization

/// The state of a client's connection: its link, and its writes in progress, which later reads wait for.
public final class ClientSession: Sendable {
  /// The connection, which notifications are sent on.
  public let link: any ClientLink
  private let writes = Mutex<[InstanceID: [PendingWrite]]>([:])

  /// Creates a session over a link.
  public init(link: any ClientLink) { self.link = link }

  /// The identity of the session for subscriptions.
  var key: ObjectIdentifier { ObjectIdentifier(self) }

  /// Registers a write for which later calls on this connection wait. When it has ended, call `settle`.
  func begin(_ write: PendingWrite, on instance: InstanceID) {
    writes.withLock { $0[instance, default: []].append(write) }
  }

  /// Ends a write, and the login that it left in progress if there was one.
  ///
  /// - Parameter result: the failure of that login, with which the calls that waited for it fail too.
  func settle(_ write: PendingWrite, on instance: InstanceID, _ result: Result<Void, any Error> = .success(())) {
    writes.withLock { writes in
      writes[instance]?.removeAll { $0 === write }
      if writes[instance]?.isEmpty == true { writes[instance] = nil }
    }
    write.ended.resolve(.success(()))
    write.settled.resolve(result)
  }

  /// Returns the writes on an instance that a call with this concern waits for; for `nil`, those on all instances.
  func pendingWrites(_ instance: InstanceID?, for concern: MethodConcern) -> [PendingWrite] {
    let all = writes.withLock { writes in
      guard let instance else { return writes.values.flatMap { $0 } }
      return writes[instance] ?? []
    }
    return all.filter { $0.delays(concern) }
  }

  /// Whether a call on an instance with this concern waits for a write.
  func hasPendingWrites(_ instance: InstanceID, for concern: MethodConcern) -> Bool {
    let all = writes.withLock { $0.isEmpty ? nil : $0[instance] }
    return all?.contains { $0.delays(concern) } ?? false
  }
}

/// A write of a connection, for the later calls on it.
final class PendingWrite: Sendable {
  /// The part of the instance that the write concerns.
  let concern: MethodConcern
  /// The end of the call.
  let ended = Promise<Void>()
  /// The end of the call and of the login that it left in progress. It throws the failure of that login.
  let settled = Promise<Void>()
  private let login = Mutex<AcceptedLogin?>(nil)

  init(_ concern: MethodConcern) { self.concern = concern }

  /// Ends the call, which has left this login in progress.
  func end(leaving login: AcceptedLogin) {
    self.login.withLock { $0 = login }
    ended.resolve(.success(()))
  }

  /// Whether a later call with this concern waits for the write.
  func delays(_ concern: MethodConcern) -> Bool { !isOver && (concern == .push || self.concern != .push) }

  /// Whether the call and its login have ended. A later call sees their outcome, and need not wait.
  var isOver: Bool { ended.result != nil && login.withLock { $0?.isOver() ?? false } }
}

/// A login of another user that continues after the reply to its call.
struct AcceptedLogin: Sendable {
  /// Waits for the end of the login, and throws its failure.
  let end: @Sendable () async throws -> Void
  /// Returns whether the login has ended.
  let isOver: @Sendable () -> Bool
}

extension ClientSession: DelegateConnection {
  public var process: (uid: UInt32, pid: Int32) { (link.peer.uid, link.peer.pid) }
  public var unsentBytes: Int { link.unsentBytes }
  public var isClosed: Bool { link.isClosed }

  public func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON {
    try await link.request(method: method, params: params, timeout: timeout)
  }
}

/// A client's connection, which carries notifications and the daemon's own requests.
public protocol ClientLink: AnyObject, Sendable {
  /// The peer at the other end.
  var peer: Peer { get }
  /// Whether the peer is a stranger: no rule admits it anywhere, and it shares the quotas of all such peers.
  var isStranger: Bool { get }
  /// Sends one line, given without its newline. Never blocks: bytes that the peer does not read are buffered.
  func send(_ line: [UInt8])
  /// Sends a request to the peer and waits for its response. On timeout, or when the waiting task is cancelled, the
  /// peer gets `$/cancelRequest`.
  func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON
  /// The number of bytes that are buffered because the peer does not read.
  var unsentBytes: Int { get }
  /// Waits until fewer than `bytes` bytes are unsent, or the connection has ended.
  func writable(below bytes: Int) async
  /// Whether the connection has ended.
  var isClosed: Bool { get }
}
