import NIOCore
import NIOPosix
import NIOSSL
import SDKInstances
import SDKProtocol

/// An inquiry into why a server's certificate was refused, which the TLS library does not report.
///
/// It requests the server's certificates once more. The handshake always fails at that point, so no data is sent.
enum CertificateInquiry {
  /// The times from and until which a certificate is valid, in seconds since 1970.
  typealias Validity = (from: Int, until: Int)

  /// Requests the server's certificates and returns the failure with the reason, in words for the operator. Returns
  /// `unverified` if the certificates can't be obtained.
  static func failure(
    at url: VendorURL, _ route: Route, caFile: String?, until deadline: NIODeadline, on loop: any EventLoop
  ) async -> HTTPFailure {
    guard deadline > .now() else { return .unverified }
    let turn = Turn<[Validity]>()
    let timer = loop.scheduleTask(deadline: deadline) { _ = turn.resolve(.failure(.timeout)) }
    defer { timer.cancel() }
    let connection = route.connect(on: loop, until: deadline)
    connection.whenComplete { result in
      do {
        let channel = try result.get()
        channel.closeFuture.whenComplete { _ in _ = turn.resolve(.failure(.unverified)) }
        try channel.pipeline.syncOperations.addHandler(handler(url, turn))
      } catch {
        turn.resolve(.failure(.unverified))
      }
    }
    let outcome = await turn.outcome()
    connection.whenSuccess { $0.close(promise: nil) }
    guard case .success(let chain) = outcome else { return .unverified }
    return .insecure(words(chain, now: Int(Timestamp.now.secondsSince1970), caFile: caFile))
  }

  private static func handler(_ url: VendorURL, _ turn: Turn<[Validity]>) throws -> NIOSSLClientHandler {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.trustRoots = .certificates([])
    let context = try NIOSSLContext(configuration: configuration)
    return try NIOSSLClientHandler(
      context: context, serverHostname: url.serverName,
      customVerificationCallback: { (chain: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
        turn.resolve(.success(chain.map { ($0.notValidBefore, $0.notValidAfter) }))
        verdict.succeed(.failed)
      })
  }

  /// Returns the reason, in words, why a certificate chain was refused. The chain starts with the server's own
  /// certificate.
  static func words(_ chain: [Validity], now: Int, caFile: String?) -> String {
    for (index, validity) in chain.enumerated() {
      let whose = index == 0 ? "the server's certificate" : "the certificate of an authority that the server sends"
      if now > validity.until { return "\(whose) expired on \(day(validity.until)); the server needs a new one" }
      if now < validity.from { return "\(whose) is not valid before \(day(validity.from)); check this machine's clock" }
    }
    return caFile == nil
      ? "no authority that this system trusts has signed the server's certificate; name the authority's file in ca_file"
      : "no authority in the file of ca_file has signed the server's certificate; check that it is the right file"
  }

  private static func day(_ seconds: Int) -> Substring {
    Timestamp(secondsSince1970: Double(seconds)).description.prefix(10)
  }
}
