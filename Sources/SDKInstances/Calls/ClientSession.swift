import Concurrency
public import DelegateBridge
public import JSONRPC
import SDKProtocol
import Synchronization

/// The state of a client's connection: its link, and its writes in progress, which later reads wait for.
public final class ClientSession: Sendable {
  /// The connection, which notifications are sent on.
  public let link: any ClientLink
  private let writes = Mutex<[InstanceID: [Promise<Void>]]>([:])

  /// Creates a session over a link.
  public init(link: any ClientLink) { self.link = link }

  /// The identity of the session for subscriptions.
  var key: ObjectIdentifier { ObjectIdentifier(self) }

  /// Registers a write for which later reads on this connection wait. When the write has ended, call `endWrite` with
  /// the returned promise.
  func beginWrite(_ instance: InstanceID) -> Promise<Void> {
    let outcome = Promise<Void>()
    writes.withLock { $0[instance, default: []].append(outcome) }
    return outcome
  }

  func endWrite(_ instance: InstanceID, _ outcome: Promise<Void>) {
    writes.withLock { writes in
      writes[instance]?.removeAll { $0 === outcome }
      if writes[instance]?.isEmpty == true { writes[instance] = nil }
    }
    outcome.resolve(.success(()))
  }

  /// Returns the writes on an instance that have not ended; for `nil`, those on all instances.
  func pendingWrites(_ instance: InstanceID?) -> [Promise<Void>] {
    writes.withLock { writes in
      guard let instance else { return writes.values.flatMap { $0 } }
      return writes[instance] ?? []
    }
  }
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
