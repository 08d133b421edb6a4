public import JSONRPC
internal import JSONRPCTransport

/// Why a call gave no result. A task that is cancelled throws `CancellationError` instead.
public enum SDKClientError: Error, Sendable, Hashable {
  /// The daemon refused; its `reason` is the name to program against.
  case rpc(RPCError)
  /// Nobody listens on the socket.
  case noDaemon(path: String)
  /// The caller may not use the socket.
  case notPermitted(path: String)
  /// Neither root nor `sdkd` nor the caller's own user listens: nothing was sent.
  case untrustedServer(uid: UInt32)
  /// The connection ended without an answer: whether the call was run is not known.
  case closed
  /// No answer in time. What others wait for goes on in the daemon.
  case timeout
  /// The daemon's answer can't be read; it may be of another version.
  case badAnswer(String)
  /// The location names no socket.
  case badLocation(String)
  /// The system refused a call.
  case system(call: String, errno: Int32)
}

extension SDKClientError {
  /// The stable name of what went wrong: the daemon's own reasons, and those of this side.
  public var reason: String {
    switch self {
    case .rpc(let error): error.reason
    case .noDaemon: "noDaemon"
    case .notPermitted: "notPermitted"
    case .untrustedServer: "untrustedServer"
    case .closed: "connectionClosed"
    case .timeout: "timeout"
    case .badAnswer: "badAnswer"
    case .badLocation: "badLocation"
    case .system: "systemError"
    }
  }

  /// Whether this is how a daemon that restarts looks from outside.
  var isRestart: Bool {
    switch self {
    case .closed, .noDaemon: true
    case .rpc(let error): error.reason == "shuttingDown"
    default: false
    }
  }

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
    case ClientConnectionError.closed, ClientConnectionError.overflow: self = .closed
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
    case .untrustedServer(let uid):
      "The socket belongs to uid \(uid), which is neither root nor sdkd nor you; nothing was sent."
    case .closed: "The daemon closed the connection without an answer. Whether the call was run is not known."
    case .timeout: "The daemon has not answered in time."
    case .badAnswer(let cause): "The daemon's answer can't be read: \(cause)"
    case .badLocation(let cause): cause
    case .system(let call, let errno): "\(call) failed with errno \(errno)."
    }
  }
}
