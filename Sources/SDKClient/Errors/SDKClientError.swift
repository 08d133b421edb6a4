public import JSONRPC
internal import JSONRPCTransport

/// Why a call gave no result. A task that is cancelled throws `CancellationError` instead.
///
/// `reason` is the stable name, `refusal` the daemon's own one as an enumeration; `isRetryable`, `retryAfter` and
/// `mayHaveRun` say what can be done about it.
public enum SDKClientError: Error, Sendable, Hashable {
  /// The daemon refused; its `reason` is the name to program against.
  case rpc(RPCError)
  /// Nobody listens on the socket: the call was not run.
  case noDaemon(path: String)
  /// The caller may not use the socket.
  case notPermitted(path: String)
  /// Neither root nor `sdkd` nor the caller's own user answers, as far as is known: nothing was sent.
  case untrustedServer(uid: UInt32)
  /// The connection was lost and the tries have ended. Nothing was changed: the call is a read, or was not sent.
  case closed
  /// A write was sent and not answered: whether it was run is not known. Look before you send it again.
  case outcomeUnknown(method: String, UnknownOutcome)
  /// No answer in time; nothing was changed. What others wait for goes on in the daemon.
  case timeout
  /// As many calls wait already as the options allow; nothing was sent.
  case tooManyCalls(limit: Int)
  /// The daemon's answer can't be read; it may be of another version.
  case badAnswer(String)
  /// The location names no socket.
  case badLocation(String)
  /// The system refused a call.
  case system(call: String, errno: Int32)
}

/// Why nobody knows whether a write was run.
public enum UnknownOutcome: Sendable, Hashable {
  /// The connection ended first: the daemon stopped or was killed.
  case connectionEnded
  /// The time was over first.
  case timeout
}

extension SDKClientError {
  /// What a lower layer threw, in this type's words.
  ///
  /// - Throws: the error itself when it is a cancellation, or none of ours.
  init(_ error: any Error, path: String) throws {
    switch error {
    case let error as SDKClientError: self = error
    case let error as RPCError: self = .rpc(error)
    case ClientConnectionError.notRunning: self = .noDaemon(path: path)
    case ClientConnectionError.notPermitted: self = .notPermitted(path: path)
    case ClientConnectionError.timeout: self = .timeout
    case ClientConnectionError.badMessage(let cause): self = .badAnswer(cause)
    case ClientConnectionError.closed, ClientConnectionError.notSent, ClientConnectionError.overflow: self = .closed
    case ClientConnectionError.system(let call, let errno): self = .system(call: call, errno: errno)
    default: throw error
    }
  }
}

extension SDKClientError: CustomStringConvertible {
  /// One sentence: what happened and what to do next.
  public var description: String {
    switch self {
    case .rpc(let error): error.message
    case .noDaemon(let path): "No daemon answers on \(path). Start it, or say where its socket is."
    case .notPermitted(let path): "You may not connect to \(path)."
    case .untrustedServer(uid: 0):
      "The system's service manager listens on this socket, which is not in sdkd's directories below /run; who answers is "
        + "not known, so nothing was sent."
    case .untrustedServer(let uid):
      "The socket belongs to uid \(uid), which is neither root nor sdkd nor you; nothing was sent."
    case .closed: "The daemon closed the connection and has not come back in time; nothing was changed. Call again."
    case .outcomeUnknown(let method, .connectionEnded):
      "The daemon closed the connection without an answer; whether \(method) was run is not known. Look, then decide."
    case .outcomeUnknown(let method, .timeout):
      "The daemon has not answered in time; whether \(method) was run is not known. Look, then decide."
    case .timeout: "The daemon has not answered in time."
    case .tooManyCalls(let limit): "\(limit) calls wait already. Call again when some have returned."
    case .badAnswer(let cause): "The daemon's answer can't be read: \(cause)"
    case .badLocation(let cause): cause
    case .system(let call, let errno): "\(call) failed with errno \(errno)."
    }
  }
}
