import Glibc
import NIOSSL

/// A certificate for `localhost` and 127.0.0.1, signed by itself and good until 2126, and a file that holds it.
final class TestCertificate: Sendable {
  /// The file for `caFile`.
  let path: String

  init() throws {
    var template = Array("/tmp/sdkd-certificate-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SocketWait.NotInTime(description: "mkstemp: \(errno)") }
    defer { close(descriptor) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    _ = Array(Self.certificate.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }

  deinit { unlink(path) }

  /// A server's context with this certificate.
  static func serverContext() throws -> NIOSSLContext {
    try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: [.certificate(NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem))],
        privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))))
  }

  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
    c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
    CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAIP+JdPANSa2tdX
    0F+dYgJ1Az/+NObinzInaxuxFQVcd16wFCCjpTZhwz4wIwdHc5xxo899ckkAoQaC
    KHwPvLSjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
    BTADAQH/MB0GA1UdDgQWBBTuW6Oy9xXcZcY6AQTlo4KzC4cA4zAKBggqhkjOPQQD
    AgNHADBEAiB/qCHbE+Acb9tDZ5HugvZjreaFqdq28uO0lGkeCOgm0wIgK0WHtr6L
    tmIbsm2+CxVRK30h0apTdb/MTyLzCdDHCD8=
    -----END CERTIFICATE-----
    """

  /// Of no use but for this certificate.
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLgiNjXJbJTVmL56S
    xw/0hKorFMolx3DcJdYMNjsWEL+hRANCAAQCD/iXTwDUmtrXV9BfnWICdQM//jTm
    4p8yJ2sbsRUFXHdesBQgo6U2YcM+MCMHR3OccaPPfXJJAKEGgih8D7y0
    -----END PRIVATE KEY-----
    """
}
