import ArgumentParser
import Foundation
import SandboxServer

/// `sdk-sandbox mint`: prints a JWT, as the customer's server would hand it out.
struct MintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mint", abstract: "Print a signed JWT for a user of the demo app.",
    discussion: "Needs no running sandbox. Two tokens are never equal: each has its own jti.")

  @Option(help: "The user's external_id.")
  var externalId: String

  @Option(help: "The signing key's id.")
  var kid: String = DemoAccounts.kid

  @Option(help: "The key's secret. Default: the demo key's of that id.")
  var secret: String?

  @Option(help: "A file with the key's secret; one newline at its end is not part of it.")
  var secretFile: String?

  @Option(parsing: .unconditional, help: "Seconds until it expires; negative for one that has.")
  var ttl: Double = 300

  @Flag(help: "Leave exp out: the token never expires.")
  var noExp = false

  @Option(help: "The name claim.")
  var name: String?

  @Option(help: "The email claim.")
  var email: String?

  @Option(help: "The scope claim; appUser is the legacy form with userId.")
  var scope: String = "user"

  @Option(help: "When it was issued, in seconds since 1970. Default: now.")
  var issuedAt: Double?

  func validate() throws {
    if secret != nil, secretFile != nil { throw ValidationError("Give --secret or --secret-file, not both.") }
    if secret == nil, secretFile == nil, DemoAccounts.keys[kid] == nil {
      throw ValidationError("\(kid) is no demo key: give its --secret or --secret-file.")
    }
    let range = -1e10...1e10
    guard range.contains(ttl), range.contains(issuedAt ?? 0) else {
      throw ValidationError("--ttl and --issued-at are seconds, at most ten digits.")
    }
  }

  func run() throws {
    var token = DemoToken(
      externalID: externalId, kid: kid, secret: try key(),
      issuedAt: issuedAt.map { Date(timeIntervalSince1970: $0) } ?? .now)
    token.lifetime = noExp ? nil : ttl
    token.scope = scope
    token.name = name
    token.email = email
    Output.line(token.text)
  }

  private func key() throws -> String {
    if let secret { return secret }
    guard let secretFile else { return DemoAccounts.keys[kid] ?? DemoAccounts.secret }
    guard let text = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
      throw CommandFailure("can't read \(secretFile)")
    }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
