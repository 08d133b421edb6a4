import Foundation
import NIOPosix
import NIOSSL
import SDKInstances
import Testing

@testable import SDKKinds

/// TLS to vendors, by HTTP and by WebSocket: the servers that are accepted, and the explanations of refusals.
@Suite(.timeLimit(.minutes(1))) struct VendorTLSTests {
  enum Way: CaseIterable {
    case http
    case webSocket

    /// Starts a server that responds as this way of connecting requires.
    func server(_ tls: NIOSSLContext?, host: String = "127.0.0.1") async throws -> TestSocketServer {
      switch self {
      case .http:
        try await .start(.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), host: host, tls: tls)
      case .webSocket: try await .start(host: host, tls: tls)
      }
    }

    /// Connects, and returns the failure; `nil` if there was none.
    func failure(_ host: String, _ port: Int, caFile: String?) async -> HTTPFailure? {
      switch self {
      case .http:
        let client = VendorHTTPClient(group: .singleton)
        let failure = await SocketWait.failure { () throws(HTTPFailure) in
          _ = try await client.send(
            HTTPRequestParts(instance: "a", method: "GET", url: "https://\(host):\(port)/", caFile: caFile))
        }
        await client.shutdown()
        return failure
      case .webSocket:
        return await SocketWait.failure { () throws(HTTPFailure) in
          await
            (try SocketPair.client().open(
              SocketRequestParts(instance: "a", url: "wss://\(host):\(port)/", caFile: caFile))).close()
        }
      }
    }
  }

  private func says(_ failure: HTTPFailure?, _ words: String) -> Bool {
    guard case .insecure(let why)? = failure else { return false }
    return why.contains(words)
  }

  @Test("TLS 1.2 and 1.3 are spoken; 1.0 and 1.1 are refused in words", arguments: Way.allCases)
  func versions(way: Way) async throws {
    let certificate = try TestCertificate()
    for version in [TLSVersion.tlsv1, .tlsv11, .tlsv12, .tlsv13] {
      let server = try await way.server(TestCertificate.serverContext(only: version))
      let failure = await way.failure("localhost", server.port, caFile: certificate.path)
      if [.tlsv12, .tlsv13].contains(version) {
        #expect(failure == nil, "\(version)")
      } else {
        #expect(says(failure, "no TLS of version 1.2"), "\(version): \(String(describing: failure))")
      }
    }
  }

  @Test(
    "A certificate that is refused is explained",
    arguments: Way.allCases,
    [
      (TestCertificate.Kind.expired, "expired on 2020-01-01"), (.future, "not valid before 2125-01-01"),
      (.otherName, "for another name"),
    ])
  func certificates(way: Way, served: (kind: TestCertificate.Kind, words: String)) async throws {
    let certificate = try TestCertificate(served.kind)
    let server = try await way.server(TestCertificate.serverContext(served.kind))
    let failure = await way.failure("localhost", server.port, caFile: certificate.path)
    #expect(says(failure, served.words), "\(String(describing: failure))")
  }

  @Test("A certificate for another address, and one that no authority here has signed", arguments: Way.allCases)
  func untrusted(way: Way) async throws {
    let certificate = try TestCertificate()
    let there = try await way.server(TestCertificate.serverContext(), host: "127.0.0.2")
    #expect(says(await way.failure("127.0.0.2", there.port, caFile: certificate.path), "for another name"))
    let here = try await way.server(TestCertificate.serverContext())
    #expect(says(await way.failure("localhost", here.port, caFile: nil), "name the authority's file in ca_file"))
    let other = try TestCertificate(.otherName)
    #expect(says(await way.failure("localhost", here.port, caFile: other.path), "no authority in the file of ca_file"))
  }

  @Test("The inquiry sends nothing: the server sees two handshakes and no request")
  func nothingSent() async throws {
    let server = try await Way.webSocket.server(TestCertificate.serverContext())
    #expect(await Way.webSocket.failure("localhost", server.port, caFile: nil) != nil)
    #expect(server.connections == 2)
    #expect(server.heads.isEmpty)
    _ = try await SocketWait.until("their ends") { server.ended == 2 ? true : nil }
  }

  @Test(
    "A ca_file that can't be used is named",
    arguments: Way.allCases,
    [
      ("missing", "does not exist"), ("folder", "is no plain file"), ("empty", "holds no certificates"),
      ("text", "holds no certificates"), ("pipe", "is no plain file"),
    ])
  func files(way: Way, file: (name: String, words: String)) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(
      at: folder.appending(path: "folder"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data().write(to: folder.appending(path: "empty"))
    try Data("no certificate".utf8).write(to: folder.appending(path: "text"))
    #expect(mkfifo(folder.appending(path: "pipe").path, 0o600) == 0)
    let server = try await way.server(TestCertificate.serverContext())
    let failure = await way.failure("localhost", server.port, caFile: folder.appending(path: file.name).path)
    #expect(says(failure, "the file of ca_file \(file.words)"), "\(String(describing: failure))")
    #expect(server.connections == 0)
  }

  @Test("A server that speaks no TLS is named as such", arguments: Way.allCases)
  func noTLS(way: Way) async throws {
    let server = try await TestSocketServer.start(.answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
    let failure = await way.failure("localhost", server.port, caFile: nil)
    #expect(says(failure, "no TLS at this port"), "\(String(describing: failure))")
  }

  @Test("The server's own certificate counts before those of its authorities; a valid chain has no authority here")
  func words() {
    func words(_ chain: [CertificateInquiry.Validity]) -> String {
      CertificateInquiry.words(chain, now: 1_800_000_000, caFile: nil)
    }
    let (good, old) = ((from: 0, until: 2_000_000_000), (from: 0, until: 1_700_000_000))
    #expect(words([old, good]) == "the server's certificate expired on 2023-11-14; the server needs a new one")
    #expect(words([good, old]).hasPrefix("the certificate of an authority that the server sends expired"))
    #expect(words([(from: 1_900_000_000, until: 2_000_000_000)]).contains("not valid before 2030-03-17"))
    #expect(words([good, good]).hasPrefix("no authority"))
    #expect(words([]).hasPrefix("no authority"))
    #expect(words([(from: .min, until: .min)]).contains("expired on 0001-01-01"))
  }
}
