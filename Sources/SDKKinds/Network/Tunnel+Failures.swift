import NIOCore
import NIOPosix
import SDKInstances

extension Tunnel {
  /// Returns the failure of the proxy with a message: the proxy's URL, followed by `words`.
  func failure(_ words: String) -> HTTPFailure { .proxy("the proxy \(proxy) \(words)") }

  /// The failure of a proxy that did not open the tunnel before the deadline.
  var timeout: HTTPFailure {
    failure("gave no valid answer to CONNECT \(target) in time; check that it is an HTTP proxy and runs")
  }

  /// The failure of a connection through the proxy that did not open before the deadline. Either the proxy or the
  /// server may be the cause.
  var delay: HTTPFailure { failure("opened no connection to \(target) in time; check that both run") }

  /// Returns the failure of an attempt to connect to the proxy.
  func failure(connecting error: any Error) -> HTTPFailure {
    let why =
      switch error {
      case ChannelError.connectTimeout: "it did not accept the connection in time"
      case let error as NIOConnectionError where error.connectionErrors.first?.error is IOError:
        "errno \((error.connectionErrors.first?.error as? IOError)?.errnoCode ?? 0)"
      case let error as IOError: "errno \(error.errnoCode)"
      default: "no connection"
      }
    return failure("can't be connected to (\(why)); check its address and that it runs")
  }

  /// Returns the failure of a proxy that answered `CONNECT` with this status, which does not open the tunnel.
  func failure(status: Int) -> HTTPFailure {
    switch status {
    case 401 where proxy.credentials == nil, 407 where proxy.credentials == nil:
      failure("wants credentials (status \(status)); set proxy_credentials")
    case 401, 407: failure("refused the credentials (status \(status)); check proxy_credentials")
    case 500...:
      failure("could not connect to \(target) (status \(status)); check the host, or look at the proxy's log")
    default: failure("refused to connect to \(target) with status \(status); check that it allows this host and port")
    }
  }
}
