public import JSONRPC
internal import JSONRPCTransport

/// The reason why a call gave no result. A task that is cancelled throws `CancellationError` instead.
///
/// `reason` is the stable name, and `refusal` the daemon's reason as an enumeration. `isRetryable`, `retryAfter` and
/// `mayHaveRun` say how to react.
public enum SDKClientError: Error, Sendable, Hashable {
  /// The daemon refused the call; program against the error's `reason`.
  case rpc(RPCError)
  /// No process listens on the socket: the call was not run.
  case noDaemon(path: String)
  /// The caller may not use the socket.
  case notPermitted(path: String)
  /// The listener is not trusted: by default it must be root, `sdkd`, the caller's own user or a tenant's daemon.
  /// Nothing was sent.
  case untrustedServer(uid: UInt32)
  /// The connection was lost and the retries failed. Nothing was changed: the call is a read, or was not sent.
  case closed
  /// A write was sent and got no response: whether it was run is unknown. Check the state before sending it again.
  case outcomeUnknown(method: String, UnknownOutcome)
  /// No response came in time; nothing was changed. Work that other callers wait for continues in the daemon.
  case timeout
  /// The options' maximum of calls is in progress; nothing was sent.
  case tooManyCalls(limit: Int)
  /// The daemon's response can't be read; the daemon may be of another version.
  case badAnswer(String)
  /// The location does not name a socket.
  case badLocation(String)
  /// A system call failed.
  case system(call: String, errno: Int32)
}

/// The reason why the outcome of a write is unknown.
public enum UnknownOutcome: Sendable, Hashable {
  /// The connection ended before the response, such as when the daemon stopped or was killed.
  case connectionEnded
  /// The time limit passed before the response.
  case timeout
}

extension SDKClientError {
  /// Creates the error from one of a lower layer.
  ///
  /// - Throws: the error itself when it is a cancellation or of an unknown type.
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
  /// The message: what happened, and what to do next.
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
