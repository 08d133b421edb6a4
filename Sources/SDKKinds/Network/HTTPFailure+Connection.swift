import NIOCore
import NIOPosix
import NIOSSL
import SDKInstances

extension HTTPFailure {
  /// The failure of a refused certificate. BoringSSL does not report the reason; `CertificateInquiry` finds it out.
  static let unverified = HTTPFailure.insecure("the server's certificate can't be verified; check it and ca_file")

  /// Creates the failure that a TLS error stands for; `nil` for other errors.
  init?(tls error: any Error) {
    switch error {
    case NIOSSLError.handshakeFailed(.sslError(let stack)):
      self = Self.handshake(stack.map(\.description).joined(separator: " "))
    case NIOSSLError.handshakeFailed:
      self = .insecure("the TLS handshake failed")
    case NIOSSLError.unableToValidateCertificate, NIOSSLError.noCertificateToValidate:
      self = Self.otherName
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = Self.otherName
    default: return nil
    }
  }

  private static let otherName = HTTPFailure.insecure(
    "the server's certificate is for another name or address than the URL's; check the URL")

  /// Returns the failure of a handshake.
  ///
  /// - Parameter reasons: BoringSSL's own, such as
  ///   `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED`.
  private static func handshake(_ reasons: String) -> HTTPFailure {
    let known: [(reason: String, words: String)] = [
      ("WRONG_VERSION_NUMBER", "the server speaks no TLS at this port; check the URL's scheme and port"),
      ("HTTP_REQUEST", "the server speaks no TLS at this port; check the URL's scheme and port"),
      ("PROTOCOL_VERSION", "the server speaks no TLS of version 1.2 or later, and older ones are not safe"),
      ("UNSUPPORTED_PROTOCOL", "the server speaks no TLS of version 1.2 or later, and older ones are not safe"),
      ("HANDSHAKE_FAILURE", "the server and sdkd have no cipher of TLS in common"),
      ("CERTIFICATE_REQUIRED", "the server asks for a client's certificate, and sdkd has none"),
      ("EOF during handshake", "the server ended the connection in the TLS handshake; check the URL's port"),
    ]
    if reasons.contains("CERTIFICATE_VERIFY_FAILED") { return unverified }
    if let found = known.first(where: { reasons.contains($0.reason) }) { return .insecure(found.words) }
    let reason = reasons.split(separator: ":").last?.split(separator: " ").first ?? "no reason"
    return .insecure("the TLS handshake failed with \(reason.prefix(64))")
  }
}

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
