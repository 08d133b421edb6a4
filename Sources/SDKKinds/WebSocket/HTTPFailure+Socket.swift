import NIOCore
import NIOPosix
import NIOSSL
import SDKInstances

extension HTTPFailure {
  /// What broke a WebSocket's connection, in words that quote nothing of what went over it.
  init(socket error: any Error) {
    switch error {
    case let failure as HTTPFailure: self = failure
    case ChannelError.connectTimeout: self = .timeout
    case is NIOConnectionError: self = .network("no connection")
    case let error as IOError: self = .network("the connection broke, errno \(error.errnoCode)")
    case is ChannelError: self = .network("the connection is closed")
    case NIOSSLError.handshakeFailed: self = .network("the TLS handshake failed; check the certificate and ca_file")
    case NIOSSLError.uncleanShutdown: self = .network("the connection broke")
    case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
      self = .network("the certificate is for another address")
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = .network("the certificate is for another name")
    default: self = .network(String(describing: type(of: error)))
    }
  }
}
