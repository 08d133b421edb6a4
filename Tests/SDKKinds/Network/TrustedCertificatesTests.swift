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

  @Test("ca_file comes before the environment, and the environment before the system's file")
  func sources() {
    func source(_ caFile: String?, _ variables: [String: String]) -> CertificateSource {
      CertificateSource.of(caFile: caFile) { variables[$0] }
    }
    let variables = ["SSL_CERT_FILE": "/a.pem", "SSL_CERT_DIR": "/b:/c"]
    #expect(source("/own.pem", variables) == .file("/own.pem", name: "the file of ca_file"))
    #expect(source(nil, variables) == .environment(file: "/a.pem", directories: ["/b", "/c"]))
    #expect(source(nil, ["SSL_CERT_FILE": "", "SSL_CERT_DIR": "/b"]) == .environment(file: nil, directories: ["/b"]))
    #expect(source(nil, ["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]) == source(nil, [:]))
  }

  @Test("A directory counts with the names that openssl rehash makes, and one without certificates is refused")
  func directories() throws {
    let certificate = try TestCertificate()
    let folder = FileManager.default.temporaryDirectory.appending(path: "authorities-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = CertificateSource.environment(file: nil, directories: ["/nonexistent", folder.path])
    for name in ["own.pem", "0a775a30.pem", "0a775a3.0", "0a775a3g.0", "0a775a30"] {
      try FileManager.default.copyItem(atPath: certificate.path, toPath: folder.appending(path: name).path)
    }
    let failure = #expect(throws: HTTPFailure.self) { try source.certificates }
    #expect("\(String(describing: failure))".contains("openssl rehash"))
    try FileManager.default.copyItem(atPath: certificate.path, toPath: folder.appending(path: "0a775a30.1").path)
    try Data("no certificate".utf8).write(to: folder.appending(path: "0a775a30.2"))
    #expect(try source.certificates?.count == 1)
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
