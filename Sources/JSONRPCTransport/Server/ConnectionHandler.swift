public import JSONRPC

/// The program's side of one connection.
///
/// All functions but `prepare` are called on the connection's event loop, in the order of the frames, and must not
/// block: what takes time goes into an `AcceptedCall`.
public protocol ConnectionHandler: Sendable {
  /// Does with a long request what takes time, before `accept`: sets its `prepared`. Runs on any thread.
  func prepare(_ request: RPCRequest) -> RPCRequest
  /// A request was read. Places in queues are taken here, in arrival order. A notification that is sent while
  /// this runs follows the reply that it gives.
  func accept(_ request: RPCRequest) -> Acceptance
  /// A request was answered with an error before the program was asked: it is told, and must not answer.
  func refused(_ request: RPCRequest, with error: RPCError)
  /// A notification was read that the transport does not know itself.
  func receive(notification method: String, params: JSON?)
  /// The connection has ended; called once, after everything else, when the last call has returned.
  func closed()
}

extension ConnectionHandler {
  /// Most need no preparation.
  public func prepare(_ request: RPCRequest) -> RPCRequest { request }
  /// Most don't care.
  public func refused(_ request: RPCRequest, with error: RPCError) {}
}

/// What becomes of a request.
public enum Acceptance: Sendable {
  /// Answered at once; the result is JSON text.
  case reply(Result<[UInt8], RPCError>)
  /// To be run when the connection has room.
  case run(any AcceptedCall)
}

/// A request that has taken its place. Exactly one of `run` and `abandon` is called, once.
public protocol AcceptedCall: Sendable {
  /// Runs it; the result is JSON text. The task is cancelled by `$/cancelRequest` and by the end of the
  /// connection, and must then return soon: the connection's end waits for it.
  func run() async -> Result<[UInt8], RPCError>
  /// Gives its place back: the request was cancelled, refused or cut off before it ran.
  func abandon()
  /// Its answer is on the way: what is sent from now on follows it. Called on the event loop after `run`,
  /// unless the connection ended before.
  func answered()
}

extension AcceptedCall {
  /// Most don't care.
  public func answered() {}
}
