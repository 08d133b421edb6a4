import Foundation
import JSONRPC
import Testing

/// TLS to a vendor's server, which is nginx in front of the sandbox.
@Suite struct CounterpartTLSTests {
  /// A desk, nginx, and certificates of an authority that `ca_file` names.
  private struct Front {
    let desk: Desk
    let line: Line
    let port: UInt16
    let nginx: Nginx

    /// - Parameter options: directives of the server.
    init(certificate: String = "good", _ options: String = "") throws {
      desk = try Desk.open()
      line = try desk.connect()
      try Counterpart.require("/usr/bin/openssl", package: "openssl")
      let made = try Counterpart.run(Counterpart.script("certificates"), [desk.folder.path], in: desk)
      guard made.status == 0 else { throw Program.Failure(description: made.output) }
      port = try Nginx.freePorts(1)[0]
      nginx = try Nginx(
        in: desk.folder, port: port, servers: try Self.server(desk, port, certificate: certificate, options))
    }

    static func server(
      _ desk: Desk, _ port: UInt16, certificate: String, _ options: String, listen: String = "ssl"
    ) throws -> String {
      let vendor = try desk.vendor.messaging.components(separatedBy: "/ns/")[0]
      return """
        server {
          listen 127.0.0.1:\(port) \(listen);
          ssl_certificate \(desk.folder.path)/\(certificate).pem;
          ssl_certificate_key \(desk.folder.path)/\(certificate).key;
          \(options)
          location / { proxy_pass \(vendor); }
        }
        """
    }

    /// Restarts nginx with another certificate.
    ///
    /// - Parameter more: server blocks besides.
    func present(_ certificate: String, _ options: String = "", listen: String = "ssl", more: String = "") throws {
      nginx.kill()
      try nginx.start(more + Self.server(desk, port, certificate: certificate, options, listen: listen))
    }

    /// Returns the URL of the sandbox's Messaging backend behind nginx; with the scheme `wss`, of its realtime socket.
    func url(_ scheme: String, host: String = "localhost") throws -> String {
      "\(scheme)://\(host):\(port)/ns/\(desk.namespace)/zm\(scheme == "wss" ? "/faye" : "")"
    }

    /// Creates an instance that sends its requests over TLS.
    func create(caFile: Bool = true, _ more: JSONObject = [:]) throws {
      var settings: JSONObject = ["base_url": .string(try url("https")), "realtime": "off"]
      if caFile { settings["ca_file"] = .string(desk.folder.appendingPathComponent("ca.pem").path) }
      try desk.create("desk", on: line, settings: settings.merged(with: more))
    }

    /// Creates an instance that sends its requests in clear text and opens its realtime socket over TLS.
    func createRealtime(caFile: Bool = true) throws {
      var settings: JSONObject = ["realtime_url": .string(try url("wss"))]
      if caFile { settings["ca_file"] = .string(desk.folder.appendingPathComponent("ca.pem").path) }
      try desk.create("desk", on: line, settings: settings)
    }

    func refusal() throws -> RPCError {
      try line.failure("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    }

    /// Waits for a network error, and returns the message that says why the realtime socket can't be opened.
    func realtimeError() throws -> String {
      var message: String?
      try eventually("a network error is told", within: 60) {
        message = try line.call("instance.get", ["instance": "desk"])["lastError"]?["message"]?.stringValue
        return try message != nil && !desk.events("desk", on: line, "networkError").isEmpty
      }
      return message ?? ""
    }

    /// Returns the HTTP status that curl gets if it accepts any version of TLS, any cipher and any certificate; `000`
    /// if it can't connect.
    func curlStatus() throws -> String {
      let run = try Counterpart.run(
        "/usr/bin/curl",
        [
          "-sk", "-o", "/dev/null", "-w", "%{http_code}", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0",
          try url("https"),
        ], in: desk)
      return run.output
    }
  }

  /// Returns directives that allow one version of TLS. Debian's OpenSSL offers 1.0 and 1.1 only at security level 0.
  private static func only(_ version: String) -> String {
    "ssl_protocols \(version); ssl_ciphers DEFAULT:@SECLEVEL=0;"
  }

  @Test("TLS 1.0 and 1.1 are refused with a reason", arguments: ["TLSv1", "TLSv1.1"])
  func oldVersions(version: String) throws {
    let front = try Front(Self.only(version))
    #expect(try front.curlStatus() != "000", "nginx must serve \(version)")
    try front.create()
    let error = try front.refusal()
    #expect(error.reason == "network")
    #expect(error.message.contains("no TLS of version 1.2 or later"), "\(error.message)")
    try front.line.call("instance.delete", ["instance": "desk"])
    try front.createRealtime()
    try front.desk.logIn(on: front.line)
    #expect(try front.realtimeError().contains("no TLS of version 1.2 or later"))
    #expect(front.nginx.requests.allSatisfy { $0["uri"]?.stringValue?.contains("login") != true })
  }

  @Test("TLS 1.2 and 1.3 are used", arguments: ["TLSv1.2", "TLSv1.3"])
  func newVersions(version: String) throws {
    let front = try Front(Self.only(version))
    try front.create(["realtime": "auto", "realtime_url": .string(try front.url("wss"))])
    try front.desk.logIn(on: front.line)
    try front.desk.waitForRealtime(on: front.line)
    let requests = front.nginx.requests
    #expect(!requests.isEmpty && requests.allSatisfy { $0["tls"]?.stringValue == version })
  }

  @Test("A server that chooses its certificate by name gets the name, and an address is no name")
  func serverName() throws {
    let front = try Front()
    try front.create(["realtime": "auto", "realtime_url": .string(try front.url("wss"))])
    let nameless = "server { listen 127.0.0.1:\(front.port) ssl default_server; ssl_reject_handshake on; }\n"
    try front.present("good", "server_name localhost;", more: nameless)
    try front.desk.logIn(on: front.line)
    try front.desk.waitForRealtime(on: front.line)
    let settings: JSON = ["base_url": .string(try front.url("https", host: "127.0.0.1")), "realtime": "off"]
    try front.line.call("instance.update", ["instance": "desk", "settings": settings])
    #expect(try front.refusal().reason == "network")
    try front.present("good")
    try front.desk.logIn(on: front.line)
    #expect(try front.desk.state(on: front.line) == "authenticated")
  }

  @Test("A server that offers HTTP/2 and closes idle connections is used with HTTP/1.1")
  func otherProtocol() throws {
    let front = try Front()
    try front.create()
    try front.present("good", "keepalive_timeout 100ms;", listen: "ssl http2")
    for user in ["alice", "bob", "alice"] {
      try front.desk.logIn(as: user, on: front.line)
      // Gives nginx time to close the idle connection.
      Thread.sleep(forTimeInterval: 0.3)
    }
    #expect(try front.desk.events("desk", on: front.line, "networkError").isEmpty)
  }

  private static let broken: [(certificate: String, caFile: Bool, words: String)] = [
    ("expired", true, "the server's certificate expired on "),
    ("early", true, "the server's certificate is not valid before "),
    ("other", true, "the server's certificate is for another name or address than the URL's"),
    ("unknown", true, "no authority in the file of ca_file has signed the server's certificate"),
    ("good", false, "no authority that this system trusts has signed the server's certificate"),
  ]

  @Test("A certificate that can't be trusted is refused with its fault", arguments: broken)
  func brokenCertificate(certificate: String, caFile: Bool, words: String) throws {
    let front = try Front(certificate: certificate)
    #expect(try front.curlStatus() != "000")
    try front.create(caFile: caFile)
    let error = try front.refusal()
    #expect(error.reason == "network")
    #expect(error.message.contains(words), "\(error.message)")
    try front.line.call("instance.delete", ["instance": "desk"])
    try front.createRealtime(caFile: caFile)
    try front.desk.logIn(on: front.line)
    let message = try front.realtimeError()
    #expect(message.contains(words), "\(message)")
    // Only curl has sent a request.
    #expect(front.nginx.requests.count == 1)
  }

  @Test("A server that gets a good certificate is trusted without a restart of the daemon")
  func renewedCertificate() throws {
    let front = try Front(certificate: "expired")
    try front.create()
    _ = try front.refusal()
    try front.present("good")
    try front.desk.logIn(on: front.line)
    #expect(try front.desk.state(on: front.line) == "authenticated")
    try front.present("expired")
    #expect(try front.refusal().message.contains("expired on"))
  }

  @Test("A server that ends in the middle of a body is a network error, and the next login works")
  func endOfBody() throws {
    let front = try Front("limit_rate 20;")
    try front.create()
    let jwt = try Vendor.mint("alice")
    let call = front.line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    try eventually("the vendor has answered") {
      try front.desk.vendor.log().contains { $0["path"]?.stringValue?.hasSuffix("/login") == true }
    }
    // Gives nginx time to send the head and the first bytes of the body.
    Thread.sleep(forTimeInterval: 1)
    front.nginx.kill()
    let error = try front.line.answer(call)["error"].flatMap { RPCError(json: $0) }
    #expect(error?.reason == "network")
    #expect(error?.isRetryable == true)
    try front.present("good")
    try front.desk.logIn(on: front.line)
    #expect(try front.desk.state(on: front.line) == "authenticated")
  }
}
