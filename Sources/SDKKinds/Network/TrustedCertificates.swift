import Concurrency
import NIOCore
import NIOSSL
import SDKInstances

/// The certificates of the authorities that are trusted at vendors: those of one file, or the system's. The environment
/// variables `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's, as in OpenSSL.
///
/// All instances share them: the system's take some 0.8 MB and milliseconds to read.
final class TrustedCertificates: Sendable {
  /// The configuration for HTTP clients, which make a TLS context each. It refers to these certificates without a copy.
  let configuration: TLSConfiguration
  /// The TLS context for all WebSockets.
  let context: NIOSSLContext

  private let stamps: [FileStamp?]

  private static let lookups = SharedLookups<String?, TrustedCertificates>(
    pool: BlockingPool(name: "certificates", maximum: 2), lifetime: .seconds(1), capacity: 64
  ) { caFile, former in
    let source = CertificateSource.of(caFile: caFile)
    let stamps = source.stamps
    if let former, former.stamps == stamps { return .success(former) }
    do throws(HTTPFailure) {
      return .success(try TrustedCertificates(source, stamps))
    } catch {
      return .failure(error)
    }
  }

  /// Returns the certificates of a file, or those of the environment, or the system's. A separate thread reads them, and reads them again when the
  /// file has changed.
  ///
  /// - Throws: `insecure` for a file that can't be used; `timeout`.
  static func of(
    caFile: String?, timeout: TimeAmount, on loop: any EventLoop
  ) async throws(HTTPFailure) -> TrustedCertificates {
    try await lookups.value(of: caFile, timeout: timeout, on: loop)
  }

  private init(_ source: CertificateSource, _ stamps: [FileStamp?]) throws(HTTPFailure) {
    self.stamps = stamps
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let certificates = try source.certificates { configuration.trustRoots = .certificates(certificates) }
    // WebSockets can't be opened over HTTP/2, and the HTTP client speaks HTTP/1.1 only.
    configuration.applicationProtocols = ["http/1.1"]
    self.configuration = configuration
    do {
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw .insecure("TLS can't be set up; see whether memory is short")
    }
  }
}
