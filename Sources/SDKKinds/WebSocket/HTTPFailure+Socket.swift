import NIOCore
import NIOPosix
import NIOSSL
import SDKInstances

extension HTTPFailure {
  /// Creates the failure of a WebSocket's connection. Its words quote none of the transmitted data.
  init(socket error: any Error) {
    if let failure = HTTPFailure(tls: error) {
      self = failure
      return
    }
    switch error {
    case let failure as HTTPFailure: self = failure
    case ChannelError.connectTimeout: self = .timeout
    case is NIOConnectionError: self = .network("no connection")
    case let error as IOError: self = .network("the connection broke, errno \(error.errnoCode)")
    case is ChannelError: self = .network("the connection is closed")
    case NIOSSLError.uncleanShutdown: self = .network("the connection broke")
    default: self = .network(String(describing: type(of: error)))
    }
  }
}
