import Foundation
import JSONRPC
import Testing

/// Every output format, from the real daemon and, where there is one, the real tool.
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
