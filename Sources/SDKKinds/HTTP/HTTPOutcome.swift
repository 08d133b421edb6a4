import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import SDKInstances

/// The outcome of a request that the HTTP client has made.
enum HTTPOutcome {
  case answered(HTTPResponseParts)
  case failed(HTTPFailure)
  /// The connection ended without a response. A server closes an idle connection at any time, also when a request is
  /// just on the way.
  case cut(HTTPFailure)
  /// A failure to connect, before any part of the request was sent.
  case unconnected(HTTPFailure)
  /// A proxy that did not open the tunnel, for a reason that the client does not report.
  case untunnelled(Tunnel)

  /// Creates the outcome of a request that failed with an error of the HTTP client.
  ///
  /// - Parameter tunnel: the tunnel that was needed and is not known to have been open; `nil` for none.
  init(_ error: any Error, _ tunnel: Tunnel?) {
    if let failure = HTTPFailure(tls: error) {
      self = .failed(failure)
    } else if let tunnel, let outcome = HTTPOutcome(error, before: tunnel) {
      self = outcome
    } else {
      self.init(error)
    }
  }

  private init(_ error: any Error) {
    switch error {
    case let error as HTTPFailure: self = .failed(error)
    case is NIOTooManyBytesError: self = .failed(.tooLarge)
    case ChannelError.connectTimeout: self = .unconnected(.timeout)
    case let error as HTTPClientError:
      switch error {
      case .connectTimeout: self = .unconnected(.timeout)
      case .deadlineExceeded, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
        self = .failed(.timeout)
      case .remoteConnectionClosed: self = .cut(.network(error.shortDescription))
      default: self = .failed(.network(error.shortDescription))
      }
    case is NIOConnectionError: self = .unconnected(.network("no connection"))
    case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode):
      self = .cut(.network("the connection broke, errno \(error.errnoCode)"))
    case NIOSSLError.uncleanShutdown: self = .cut(.network("the connection broke"))
    case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode):
      self = .unconnected(.network("no connection, errno \(error.errnoCode)"))
    default:
      // Only the type: an error's text may quote the request.
      self = .failed(.network(String(describing: type(of: error))))
    }
  }

  /// Creates the outcome of a request whose tunnel failed to open; `nil` for an error that does not concern the proxy.
  private init?(_ error: any Error, before tunnel: Tunnel) {
    switch error {
    case let error as HTTPClientError:
      switch error {
      case .proxyAuthenticationRequired: self = .failed(tunnel.failure(status: 407))
      case .invalidProxyResponse, .httpProxyHandshakeTimeout, .remoteConnectionClosed: self = .untunnelled(tunnel)
      case .connectTimeout: self = .unconnected(tunnel.failure(connecting: ChannelError.connectTimeout(.zero)))
      case .deadlineExceeded, .getConnectionFromPoolTimeout: self = .failed(tunnel.delay)
      default: return nil
      }
    case is NIOConnectionError, is IOError: self = .unconnected(tunnel.failure(connecting: error))
    default: return nil
    }
  }
}
