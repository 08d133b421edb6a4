import Concurrency
import Linux
import NIOCore
import NIOSSL
import SDKInstances

/// The certificates of the authorities that are trusted at vendors: those of one file, or the system's.
///
/// All instances share them: the system's take some 0.8 MB and milliseconds to read.
final class TrustedCertificates: Sendable {
  /// The configuration for HTTP clients, which make a TLS context each. It refers to these certificates without a copy.
  let configuration: TLSConfiguration
  /// The TLS context for all WebSockets.
  let context: NIOSSLContext

  private let stamp: FileStamp?

  private static let lookups = SharedLookups<String?, TrustedCertificates>(
    pool: BlockingPool(name: "certificates", maximum: 2), lifetime: .seconds(1), capacity: 64
  ) { caFile, former in
    let stamp = (caFile ?? systemFile).flatMap { FileStamp($0) }
    if let former, former.stamp == stamp { return .success(former) }
    do throws(HTTPFailure) {
      return .success(try TrustedCertificates(caFile, stamp))
    } catch {
      return .failure(error)
    }
  }

  /// The maximum size of a file, which is more than any list of authorities has.
  private static let maximumBytes = 4 << 20

  /// Returns the certificates of a file, or the system's. A separate thread reads them, and reads them again when the
  /// file has changed.
  ///
  /// - Throws: `insecure` for a file that can't be used; `timeout`.
  static func of(
    caFile: String?, timeout: TimeAmount, on loop: any EventLoop
  ) async throws(HTTPFailure) -> TrustedCertificates {
    try await lookups.value(of: caFile, timeout: timeout, on: loop)
  }

  private init(_ caFile: String?, _ stamp: FileStamp?) throws(HTTPFailure) {
    self.stamp = stamp
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let file = caFile ?? Self.systemFile {
      let name = caFile == nil ? "the file of the system's certificates" : "the file of ca_file"
      let bytes: [UInt8]
      do throws(FileProblem) {
        bytes = try BoundedFile(reading: file, limit: Self.maximumBytes).bytes
      } catch {
        throw .insecure("\(name) \(error)")
      }
      guard !bytes.isEmpty, let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
        throw .insecure("\(name) holds no certificates in the format PEM")
      }
      configuration.trustRoots = .certificates(certificates)
    }
    // WebSockets can't be opened over HTTP/2, and the HTTP client speaks HTTP/1.1 only.
    configuration.applicationProtocols = ["http/1.1"]
    self.configuration = configuration
    do {
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw .insecure("TLS can't be set up; see whether memory is short")
    }
  }

  /// The file of the system's trusted certificates on Debian or Fedora; `nil` for the search of the TLS library. It is
  /// looked for each time, because it may be installed while the daemon runs.
  private static var systemFile: String? {
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].first { FileStamp($0) != nil }
  }
}
