public import JSONRPC

/// Why a request that we sent to a peer has no result.
public enum PeerRequestError: Error, Sendable, Hashable {
  /// The peer answered with an error.
  case refused(RPCError)
  /// No answer in time; the peer was told that none is needed any more.
  case timedOut
  /// The connection has ended.
  case closed
  /// The waiting task was cancelled; the peer was told that no answer is needed any more.
  case cancelled
}
