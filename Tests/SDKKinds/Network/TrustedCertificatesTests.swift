import Foundation
import NIOCore
import NIOPosix
import SDKInstances
import Testing

@testable import SDKKinds

/// The trusted certificates, which all instances share.
@Suite(.timeLimit(.minutes(1))) struct TrustedCertificatesTests {
  private func certificates(_ file: String?) async throws(HTTPFailure) -> TrustedCertificates {
    try await TrustedCertificates.of(
      caFile: file, timeout: .seconds(20), on: MultiThreadedEventLoopGroup.singleton.next())
  }

  @Test("Connections with the same certificates share them")
  func shared() async throws {
    let (one, other) = (try TestCertificate(), try TestCertificate())
    let first = try await certificates(one.path)
    #expect(try await self.certificates(one.path) === first)
    #expect(try await self.certificates(other.path) !== first)
    #expect(try await self.certificates(nil) === self.certificates(nil))
  }

  @Test("A file that was replaced is read again, and one that is gone is refused")
  func replaced() async throws {
    let certificate = try TestCertificate()
    let former = try await certificates(certificate.path)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: certificate.path))
    try bytes.write(to: URL(fileURLWithPath: certificate.path), options: .atomic)
    _ = try await SocketWait.until("the new file") {
      try await self.certificates(certificate.path) === former ? nil : true
    }
    try FileManager.default.removeItem(atPath: certificate.path)
    _ = try await SocketWait.until("a failure") { (try? await self.certificates(certificate.path)) == nil ? true : nil }
  }
}
