import Foundation
import JSONRPC
import Testing

/// Every output format of providers, with the real daemon and, where it is installed, the real tool.
@Suite struct BridgeFormatTests {
  private static func q(_ text: String) -> String { "\"" + text.replacingOccurrences(of: "\"", with: "\\\"") + "\"" }

  @Test(arguments: [
    ("raw", "$T"), ("auto", "  $T  "), ("json", #"{"token":"$T"}"#), ("auto", #"{"token":"$T","expiresAt":$E}"#),
    (
      "exec-credential",
      #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},"status":{"expirationTimestamp":"2033-05-18T03:33:20Z","token":"$T"}}"#
    ),
    ("auto", #"{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"$T"}}"#),
    (
      "google-executable",
      #"{"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:id_token","id_token":"$T","expiration_time":$E}"#
    ),
    (
      "auto",
      #"{"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:access_token","access_token":"$T"}"#
    ),
    ("oauth", #"{"access_token":"$T","token_type":"Bearer","expires_in":3000,"refresh_token":"r","scope":"desk"}"#),
    ("auto", #"{"access_token":"$T","token_type":"Bearer","expires_in":"3000"}"#),
    ("git-credential", "protocol=https\nhost=desk.example.com\nusername=oauth2\npassword=$T\npassword_expiry_utc=$E"),
  ])
  func isUnderstood(format: String, output: String) throws {
    let desk = try BridgeDesk(
      "T=$(\(BridgeDesk.mint)); E=$(($(date +%s) + 3000)); echo \(Self.q(output))", ["format": .string(format)])
    let token = try desk.line.call("token.refresh", ["instance": "desk"])
    #expect(token["token"]?.stringValue != desk.first)
    #expect(token["fromCache"] == false)
  }

  @Test func aFailureInGooglesFormReachesTheCallerMasked() throws {
    let desk = try BridgeDesk(
      #"echo '{"version": 1, "success": false, "code": "401", "message": "Caller not authorized, token=abc123."}'; exit 1"#,
      ["format": "google-executable"])
    let error = try desk.line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == "providerFailed")
    let text = JSONWriter.text(of: error.json)
    #expect(text.contains("401"))
    #expect(text.contains("Caller not authorized, token=‹masked›"))
    #expect(!text.contains("abc123"))
  }

  /// git's own helper for credentials in a file, asked as git asks it.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/git"), "needs git"))
  func gitsCredentialStore() throws {
    let desk = try BridgeDesk()
    let token = try Vendor.mint("alice", ttl: 1800)
    try desk.desk.write("credentials", "https://oauth2:\(token)@desk.example.com\n", mode: 0o600)
    let script =
      "printf 'protocol=https\\nhost=desk.example.com\\n\\n' | "
      + "git -c credential.helper= -c credential.helper='store --file=\(desk.path("credentials"))' credential fill"
    var provider = try desk.desk.provider(script).objectValue ?? [:]
    provider["format"] = "git-credential"
    try desk.use(.object(provider))
    #expect(try desk.line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue == token)
  }

  @Test("A git helper is a provider as it is", .enabled(if: hasGit, "needs git"))
  func gitsOwnPrograms() throws {
    let desk = try BridgeDesk()
    let token = try Vendor.mint("alice", ttl: 1800)
    let host = try #require(URL(string: try desk.desk.vendor.messaging)?.host)
    let port = try #require(URL(string: try desk.desk.vendor.messaging)?.port)
    try desk.desk.write("credentials", "https://alice:\(token)@\(host)%3a\(port)\n", mode: 0o600)
    try desk.desk.write("gitconfig", "[credential]\nhelper = store --file=\(desk.path("credentials"))\n")
    let commands: [JSON] = [
      ["/usr/bin/git", "credential", "fill"],
      ["/usr/bin/git", "credential-store", .string("--file=\(desk.path("credentials"))"), "get"],
    ]
    for command in commands {
      try desk.use([
        "command": command, "format": "git-credential", "input": "git",
        "environment": ["GIT_CONFIG_GLOBAL": .string(desk.path("gitconfig")), "GIT_TERMINAL_PROMPT": "0"],
      ])
      #expect(try desk.line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue == token)
    }
  }

  private static let hasGit = FileManager.default.isExecutableFile(atPath: "/usr/bin/git")

  @Test("A program without input reads the end of the file at once")
  func noInput() throws {
    let desk = try BridgeDesk("test -z \"$(cat)\" && exec \(BridgeDesk.mint)", ["input": "none"])
    #expect(try desk.line.call("token.refresh", ["instance": "desk"])["fromCache"] == false)
  }

  @Test("A token endpoint's refusal reaches the caller masked", arguments: [0, 22])
  func aTokenEndpointRefuses(status: Int) throws {
    let desk = try BridgeDesk(
      #"echo '{"error": "invalid_grant", "error_description": "Session over, token=abc123."}'; exit \#(status)"#,
      ["format": "oauth"])
    let error = try desk.line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == "providerFailed")
    let text = JSONWriter.text(of: error.json)
    #expect(text.contains("invalid_grant") && text.contains("Session over, token=‹masked›"), "\(text)")
    #expect(!text.contains("abc123"))
  }

  /// The Google Cloud CLI prints the token alone.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gcloud"), "needs gcloud"))
  func gcloudsPrintAccessToken() throws {
    let desk = try BridgeDesk()
    let token = try Vendor.mint("alice", ttl: 1800)
    try desk.desk.write("token", token, mode: 0o600)
    try desk.use([
      "command": ["/usr/bin/gcloud", "auth", "print-access-token"], "format": "raw", "timeout": "2m",
      "environment": [
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": .string(desk.path("token")), "CLOUDSDK_CONFIG": .string(desk.path("gcloud")),
      ],
    ])
    let answer = try desk.line.call("token.refresh", ["instance": "desk", "timeout": "2m"], within: 130)
    #expect(answer["token"]?.stringValue == token)
  }
}
