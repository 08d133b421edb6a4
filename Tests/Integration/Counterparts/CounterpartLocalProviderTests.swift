import Foundation
import JSONRPC
import Testing

/// Third-party programs that need no server, as token providers, configured as their users would.
@Suite struct CounterpartLocalProviderTests {
  @Test("aws eks get-token prints an exec-credential, and its expiry is read", arguments: ["exec-credential", "auto"])
  func aws(format: String) throws {
    try Counterpart.require("/usr/bin/aws", package: "awscli")
    let desk = try Desk.open()
    let line = try desk.connectEdna(
      provider: [
        "command": ["/usr/bin/aws", "eks", "get-token", "--cluster-name", "desk", "--region", "eu-central-1"],
        "format": .string(format), "timeout": "2m",
        "environment": [
          "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
        ],
      ])
    let token = try line.refreshDesk()
    #expect(token["token"]?.stringValue?.hasPrefix("k8s-aws-v1.") == true)
    try expectLife(token)
  }

  @Test("pass shows the token of a password store, and a missing entry fails")
  func pass() throws {
    try Counterpart.require("/usr/bin/pass", package: "pass")
    let desk = try Desk.open()
    let keys = desk.folder.appendingPathComponent("gnupg")
    try FileManager.default.createDirectory(
      at: keys, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let environment = [
      "HOME": desk.folder.path, "GNUPGHOME": keys.path,
      "PASSWORD_STORE_DIR": desk.folder.appendingPathComponent("store").path,
    ]
    func run(_ path: String, _ arguments: [String], input: URL? = nil) throws {
      let run = try Counterpart.run(path, arguments, in: desk, environment: environment, input: input)
      guard run.status == 0 else { throw Program.Failure(description: "\(path) \(arguments): \(run.output)") }
    }
    // An agent of the tests would otherwise stay after them.
    defer { try? run("/usr/bin/gpgconf", ["--kill", "gpg-agent"]) }
    try run("/usr/bin/gpg", ["--batch", "--passphrase", "", "--quick-generate-key", "desk"])
    try run("/usr/bin/pass", ["init", "desk"])
    try run(
      "/usr/bin/pass", ["insert", "--multiline", "desk/token"], input: desk.write("token", "of-alice", mode: 0o600))
    // The run starts an agent of its own.
    try run("/usr/bin/gpgconf", ["--kill", "gpg-agent"])
    let variables = JSONObject(environment.map { ($0.key, .string($0.value)) })
    func provider(_ entry: JSON) -> JSONObject {
      [
        "command": ["/usr/bin/pass", "show", entry], "format": "raw", "timeout": "2m",
        "environment": .object(variables),
      ]
    }
    let line = try desk.connectEdna(provider: provider("desk/token"))
    for _ in 1...2 { #expect(try line.refreshDesk()["token"] == "of-alice") }
    try line.call("instance.update", ["instance": "desk", "provider": .object(provider("desk/none"))])
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerFailed")
  }

  @Test("An executable of google-auth is a provider without a wrapper", arguments: ["google-executable", "auto"])
  func googleAuth(format: String) throws {
    let library = try Counterpart.pythonPackage("google/auth/pluggable.py", package: "google-auth")
    let desk = try Desk.open()
    let end = Int(Date().timeIntervalSince1970) + 3000
    let provider = try desk.provider(
      """
      echo '{"version": 1, "success": true, "token_type": "urn:ietf:params:oauth:token-type:id_token",'
      echo ' "id_token": "of-alice", "expiration_time": \(end)}'
      """)
    let command = try #require(provider["command"]?.arrayValue?.first?.stringValue)
    let reader = try desk.write(
      "reader.py",
      """
      import sys
      from google.auth import pluggable
      print(pluggable.Credentials(
          audience="//iam.googleapis.com/desk", subject_token_type="urn:ietf:params:oauth:token-type:id_token",
          token_url="https://sts.googleapis.com/v1/token",
          credential_source={"executable": {"command": sys.argv[1]}}).retrieve_subject_token(None))
      """)
    let folder = URL(fileURLWithPath: library).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path
    let read = try Counterpart.run(
      "/usr/bin/python3", [reader.path, command], in: desk,
      environment: ["PYTHONPATH": folder, "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"])
    #expect(read.output == "of-alice\n")
    let line = try desk.connectEdna(
      provider: provider.objectValue?.merged(with: ["format": .string(format)]) ?? [:])
    let token = try line.refreshDesk()
    #expect(token["token"] == "of-alice")
    try expectLife(token)
  }

  @Test("A JWT that jose signs logs in at the vendor")
  func jose() throws {
    try Counterpart.require("/usr/bin/jose", package: "jose")
    let desk = try Desk.open()
    let line = try desk.connect()
    let minted = try Vendor.mint("alice").split(separator: ".").map(String.init)
    let key = Data("sandbox-demo-secret-0001-protects-nothing".utf8).base64EncodedString()
      .replacingOccurrences(of: "=", with: "").replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_")
    try desk.write("key.jwk", #"{"kty":"oct","alg":"HS256","k":"\#(key)"}"#, mode: 0o600)
    func decoded(_ part: String) throws -> String {
      let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
      let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
      return String(decoding: try #require(data), as: UTF8.self)
    }
    try desk.write("claims", try decoded(minted[1]))
    let header = try decoded(minted[0])
    try desk.create(
      "desk", on: line,
      provider: [
        "command": [
          "/usr/bin/jose", "jws", "sig", "-c", "-I", .string(desk.folder.appendingPathComponent("claims").path), "-k",
          .string(desk.folder.appendingPathComponent("key.jwk").path), "-s", .string("{\"protected\":\(header)}"),
        ], "format": "raw",
      ])
    try desk.logIn(on: line)
    let token = try line.refreshDesk()
    try expectLife(token)
    try desk.create("other", on: line)
    let user = try line.call("messaging.loginUser", ["instance": "other", "jwt": token["token"] ?? .null])
    #expect(user["externalId"] == "alice")
  }
}
