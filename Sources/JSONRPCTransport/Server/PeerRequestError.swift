public import JSONRPC

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
