import ArgumentParser
import JSONRPC
import JWTRules
import SDKProtocol

/// `sdkctl lint-jwt`: checks a JWT without a daemon or network.
struct LintJWTVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "lint-jwt", abstract: "Say what is wrong with a JWT, without sending it anywhere.",
    discussion: """
      Reads it from a file or standard input. Shows what header and payload claim, never the signature. The \
      signature is not checked: that takes the secret. Exit status 1 when the JWT would be refused.

      Each SDK has rules of its own; --sdk takes a kind, such as zendesk.chat, or \(JWTAudience.words).
      """,
    examples: [
      "sdkctl lint-jwt alice.jwt",
      "sdkctl lint-jwt --sdk chat < visitor.jwt",
    ])

  @Argument(help: "The file; standard input unless given.", completion: .file())
  var file: String?

  @Option(help: ArgumentHelp("The SDK that the JWT is for.", valueName: "kind"))
  var sdk: JWTAudience = .messaging

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let bytes = try context.input.secret(from: file, prompt: "JWT (not shown): ")
    let wrapping = CredentialWrapping(try Input.text(bytes))
    guard let jwt = DecodedJWT(wrapping.content) else {
      throw CommandFailure(
        message: "This is no JWT: three parts of base64url with dots between, the first two JSON objects.",
        reason: "failedToDecodeJWT", status: 1)
    }
    let around = wrapping.description.map { part in
      JWTFinding(.warning, "wrapped", "There is \(part) around the JWT; sdkd removes it, vendors refuse it.")
    }
    let findings = ((around.map { [$0] } ?? []) + sdk.findings(in: jwt, now: .now)).bySeverity
    let report: JSON = [
      "header": .object(jwt.header), "payload": .object(jwt.payload), "findings": .array(findings.map(\.json)),
    ]
    try context.presenter.show(report) { Self.table(jwt, findings) }
    let errors = findings.filter { $0.severity == .error }
    if let first = errors.first {
      throw CommandFailure(message: first.message, reason: first.name, status: 1)
    }
  }

  /// Returns a table of claims and findings for people.
  static func table(_ jwt: DecodedJWT, _ findings: [JWTFinding]) -> Table {
    func rows(_ name: String, _ claims: JSONObject) -> [[Table.Cell]] {
      claims.members.map { member in
        let time = ["exp", "iat", "nbf"].contains(member.key) ? member.value.doubleValue : nil
        let remark = time.map { "  \(Timestamp(secondsSince1970: $0))" } ?? ""
        return [.init(name), .init(member.key, .bold), .init(JSONWriter.text(of: member.value) + remark)]
      }
    }
    let found = findings.map { finding -> [Table.Cell] in
      let style: Table.Style = finding.severity == .error ? .bad : finding.severity == .warning ? .doubtful : .plain
      return [.init(finding.severity.rawValue, style), .init(finding.name, .bold), .init(finding.message)]
    }
    return Table(header: [], rows: rows("header", jwt.header) + rows("payload", jwt.payload) + found)
  }
}
