public import JSONRPC
public import SDKProtocol

/// A connection of a program that can answer questions.
public protocol DelegateConnection: AnyObject, Sendable {
  /// The program at the other end: its uid and process id.
  var process: (uid: UInt32, pid: Int32) { get }
  /// The number of bytes that are buffered because the peer does not read.
  var unsentBytes: Int { get }
  /// Whether the connection has ended.
  var isClosed: Bool { get }
  /// Sends a request to the peer and waits for its response. On timeout, or when the waiting task is cancelled, the
  /// peer gets `$/cancelRequest`.
  func request(method: String, params: JSON, timeout: Duration) async throws(PeerRequestError) -> JSON
}

/// The instances that delegates answer for.
public protocol DelegatedInstances<Connection>: AnyObject, Sendable {
  /// The connections of delegates.
  associatedtype Connection: DelegateConnection

  /// Whether the program at the other end has the role control on an instance. False if the instance is gone.
  func mayAnswer(_ connection: Connection, for instance: DelegatedInstance) -> Bool
  /// Tells an instance that a delegate was attached or detached. Does nothing if the instance is gone.
  func delegateChanged(_ instance: DelegatedInstance, isAttached: Bool) async
}

/// An instance that a delegate answers for.
public struct DelegatedInstance: Sendable, Hashable {
  /// The id. An instance that is made again has it too.
  public let id: InstanceID
  /// The UUID, which no other instance ever has.
  public let uuid: String

  /// Creates a reference to an instance.
  public init(id: InstanceID, uuid: String) {
    self.id = id
    self.uuid = uuid
  }
}

/// A store of the instances that had a delegate, which survives a restart of the daemon. It need not be durable: if it
/// is lost, `noProvider` is only reported earlier.
public protocol DelegateMemory: Sendable {
  /// Returns the UUIDs that were saved last.
  func load() -> Set<String>
  /// Replaces the saved UUIDs. Must not block the thread that it is called on. Calls never overlap.
  func save(_ instances: Set<String>) async
}
