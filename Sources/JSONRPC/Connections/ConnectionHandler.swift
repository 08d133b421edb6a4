/// The program's side of one connection.
///
/// All functions but `prepare` are called on the connection's event loop, in the order of the frames. They must not
/// block: longer work belongs in an `AcceptedCall`. Handlers and calls are objects, because values of any type are slow
/// to copy.
public protocol ConnectionHandler: AnyObject, Sendable {
  /// Decodes the params of a request or notification in a long message, and returns it with the result in `prepared`.
  /// `accept` and `receive` then need not do this slow work on the event loop. Runs on any thread.
  func prepare(_ request: RPCRequest) -> RPCRequest
  /// Decides whether a request is answered at once or runs as a call. A handler that queues requests must queue them
  /// here, because `accept` is called in order of arrival and `run` need not be.
  ///
  /// A notification that is sent while this runs follows the reply that this returns.
  func accept(_ request: RPCRequest) -> Acceptance
  /// Reports a request that the transport answered with an error before `accept`. The program must not answer it.
  func refused(_ request: RPCRequest, with error: RPCError)
  /// Decides about a notification that the transport does not handle itself. Returns the call to run; `nil` if there is
  /// none. The result of the call is discarded.
  func receive(notification: RPCRequest) -> (any AcceptedCall)?
  /// Returns the program's state of a connection that another process continues, and does nothing more for it. Returns
  /// `nil` if the connection is to be closed. Called when no request is in progress; `closed` does not follow.
  func handOver() async -> JSON?
  /// Continues with the state that `handOver` returned in another process. No request is received meanwhile. If this
  /// takes too long, the connection is closed, and `closed` may be called before this returns.
  func adopt(_ state: JSON) async
  /// Reports the end of the connection. Called once, after everything else, when the last call has returned.
  func closed()
}

extension ConnectionHandler {
  /// Returns the request unchanged.
  public func prepare(_ request: RPCRequest) -> RPCRequest { request }
  /// Does nothing.
  public func refused(_ request: RPCRequest, with error: RPCError) {}
  /// Returns `nil`.
  public func handOver() async -> JSON? { nil }
  /// Does nothing.
  public func adopt(_ state: JSON) async {}
}

/// The decision about a request.
public enum Acceptance: Sendable {
  /// The request is answered at once; the result is JSON text.
  case reply(Result<[UInt8], RPCError>)
  /// The call runs when the connection's limits allow it.
  case run(any AcceptedCall)
}

/// An accepted request. Exactly one of `run` and `abandon` is called, once.
public protocol AcceptedCall: AnyObject, Sendable {
  /// Runs the request; the result is JSON text.
  ///
  /// The task is cancelled by `$/cancelRequest` and by the end of the connection. It must then return soon, because the
  /// connection's end waits for it.
  func run() async -> Result<[UInt8], RPCError>
  /// Releases what `accept` has reserved for the request, such as a position in a queue. Called instead of `run` when
  /// the request is cancelled or refused, or the connection ends.
  func abandon()
  /// Reports that the result `shuttingDown` of `run` is final. Not called if another process runs the request again, so
  /// what counts or records calls leaves out that result until then. Called on the event loop.
  func refused(with error: RPCError)
  /// Whether work of the program waits for `answered`, so that no other process can write the response. Read after `run`.
  var awaitsAnswer: Bool { get }
  /// Reports that the response is written: lines sent from now on follow it. Called on the event loop after `run`,
  /// unless the connection ended before.
  func answered()
}

extension AcceptedCall {
  /// Does nothing.
  public func refused(with error: RPCError) {}
  /// False.
  public var awaitsAnswer: Bool { false }
  /// Does nothing.
  public func answered() {}
}

/// The reason why a request that we sent to a peer has no result.
public enum PeerRequestError: Error, Sendable, Hashable {
  /// The peer responded with an error.
  case refused(RPCError)
  /// No response came in time. The peer was sent `$/cancelRequest`.
  case timedOut
  /// The connection has ended.
  case closed
  /// The waiting task was cancelled. If the request was sent, the peer was sent `$/cancelRequest`.
  case cancelled
}
