import Glibc
import NIOSSL

/// A self-signed certificate, in a temporary file.
final class TestCertificate: Sendable {
  /// The name and validity of a certificate. All have the same key.
  enum Kind: CaseIterable {
    /// Valid for `localhost` and 127.0.0.1, until 2126.
    case good
    /// Like `good`, but expired in 2020.
    case expired
    /// Like `good`, but valid only from 2125.
    case future
    /// Valid for `chat.example`.
    case otherName
  }

  /// The path of the file, for `caFile`.
  let path: String

  init(_ kind: Kind = .good) throws {
    var template = Array("/tmp/sdkd-certificate-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SocketWait.NotInTime(description: "mkstemp: \(errno)") }
    defer { close(descriptor) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    _ = Array(Self.text(kind).utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }

  deinit { unlink(path) }

  /// Returns a server's TLS context with a certificate of this kind.
  ///
  /// - Parameter version: the only version of TLS that the server speaks; `nil` for all that it supports.
  static func serverContext(_ kind: Kind = .good, only version: TLSVersion? = nil) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(text(kind).utf8), format: .pem))],
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
    if let version { (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (version, version) }
    return try NIOSSLContext(configuration: configuration)
  }

  private static func text(_ kind: Kind) -> String {
    switch kind {
    case .good: good
    case .expired: expired
    case .future: future
    case .otherName: otherName
    }
  }

  private static let good = """
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

  private static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBZjCCAQugAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
    c3QwHhcNMTkwMTAxMDAwMDAwWhcNMjAwMTAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
    b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQCD/iXTwDUmtrXV9Bf
    nWICdQM//jTm4p8yJ2sbsRUFXHdesBQgo6U2YcM+MCMHR3OccaPPfXJJAKEGgih8
    D7y0o04wTDAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUw
    AwEB/zAdBgNVHQ4EFgQU7lujsvcV3GXGOgEE5aOCswuHAOMwCgYIKoZIzj0EAwID
    SQAwRgIhAO/WHQGmIHWGudni4BHR+VjI7ET6JYF1JVuZmlKcYjD2AiEAu08Eu25u
    3I5PpledvQuSIpoW/7RvC4LmyYH+cWeNbOs=
    -----END CERTIFICATE-----
    """

  private static let future = """
    -----BEGIN CERTIFICATE-----
    MIIBaDCCAQ+gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
    c3QwIhgPMjEyNTAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowFDESMBAGA1UE
    AwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAg/4l08A1Jra
    11fQX51iAnUDP/405uKfMidrG7EVBVx3XrAUIKOlNmHDPjAjB0dznHGjz31ySQCh
    BoIofA+8tKNOMEwwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB
    /wQFMAMBAf8wHQYDVR0OBBYEFO5bo7L3FdxlxjoBBOWjgrMLhwDjMAoGCCqGSM49
    BAMCA0cAMEQCIFWoc8B4emAm4eHHD/Nc5FF1m4NMLP4F9bQ1KA/KgjZtAiBXQTa5
    cfKeFGtc1i5+foUv4n1dU0CNQtc3SyDUS1bc8A==
    -----END CERTIFICATE-----
    """

  private static let otherName = """
    -----BEGIN CERTIFICATE-----
    MIIBZDCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
    c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
    CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAIP+JdPANSa2tdX
    0F+dYgJ1Az/+NObinzInaxuxFQVcd16wFCCjpTZhwz4wIwdHc5xxo899ckkAoQaC
    KHwPvLSjSzBJMBcGA1UdEQQQMA6CDGNoYXQuZXhhbXBsZTAPBgNVHRMBAf8EBTAD
    AQH/MB0GA1UdDgQWBBTuW6Oy9xXcZcY6AQTlo4KzC4cA4zAKBggqhkjOPQQDAgNI
    ADBFAiB3kP4oeMEqnp5ipbhXsW80tIPpFf7wOemp/69nT88j9AIhAJv6WwQMFCNw
    XlLBsI/Dl5NlbwyUnEzbMYoPEsRLxHW6
    -----END CERTIFICATE-----
    """

  /// The private key of all these certificates. It protects nothing.
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLgiNjXJbJTVmL56S
    xw/0hKorFMolx3DcJdYMNjsWEL+hRANCAAQCD/iXTwDUmtrXV9BfnWICdQM//jTm
    4p8yJ2sbsRUFXHdesBQgo6U2YcM+MCMHR3OccaPPfXJJAKEGgih8D7y0
    -----END PRIVATE KEY-----
    """
}
