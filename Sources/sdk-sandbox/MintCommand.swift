import ArgumentParser
import Foundation
import SandboxServer

/// `sdk-sandbox mint`: prints a JWT such as the customer's server issues.
struct MintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mint", abstract: "Print a signed JWT for a user of the demo accounts.",
    discussion: "Needs no running sandbox. Two tokens are never equal: each has its own jti.")

  /// The SDKs for which the command mints a JWT.
  enum SDK: String, ExpressibleByArgument, CaseIterable {
    case messaging, chat
    case inApp = "salesforce.messaging"
  }

  @Option(help: "The SDK it is for: messaging, chat or salesforce.messaging.")
  var sdk = SDK.messaging

  @Option(
    name: [.customLong("external-id"), .customLong("sub")],
    help: "The user's external_id; the sub of salesforce.messaging.")
  var externalId: String

  @Option(help: "The signing key's id; not for chat. Default: \(DemoAccounts.kid) or \(DemoAccounts.inAppKid).")
  var kid: String?

  @Option(help: "The key's, or the chat account's, secret. Default: the demo key's of that id, or the demo account's.")
  var secret: String?

  @Option(help: "A file with the secret; one newline at its end is not part of it.")
  var secretFile: String?

  @Option(parsing: .unconditional, help: "Seconds until it expires; negative for one that has. Chat allows 420.")
  var ttl: Double = 300

  @Flag(help: "Leave exp out: the token never expires; in chat 420 seconds after iat.")
  var noExp = false

  @Option(help: "The name claim; empty leaves it out. Default in chat: the external_id.")
  var name: String?

  @Option(help: "The email claim; empty leaves it out. Default in chat: external_id@\(DemoAccounts.mailDomain).")
  var email: String?

  @Option(help: "The iss claim; salesforce.messaging only. Default: that of the demo keyset.")
  var iss: String?

  @Option(help: "RS256 or RS512; salesforce.messaging only. Default: RS256.")
  var alg: String?

  @Option(help: "The scope claim; messaging only. appUser is the legacy form with userId. Default: user.")
  var scope: String?

  @Option(help: "When it was issued, in seconds since 1970. Default: now.")
  var issuedAt: Double?

  func validate() throws {
    if secret != nil, secretFile != nil { throw ValidationError("Give --secret or --secret-file, not both.") }
    if sdk == .chat, kid != nil || scope != nil {
      throw ValidationError("A token for chat has neither --kid nor --scope.")
    }
    if sdk == .inApp, secret != nil || secretFile != nil || scope != nil || name != nil || email != nil {
      throw ValidationError("A token for salesforce.messaging has no secret, scope, name or email.")
    }
    if sdk != .inApp, iss != nil || alg != nil {
      throw ValidationError("--iss and --alg are for salesforce.messaging.")
    }
    if let alg, !["RS256", "RS512"].contains(alg) { throw ValidationError("--alg is RS256 or RS512.") }
    if sdk == .messaging, let kid, secret == nil, secretFile == nil, DemoAccounts.keys[kid] == nil {
      throw ValidationError("\(kid) is no demo key: give its --secret or --secret-file.")
    }
    let range = -1e10...1e10
    guard range.contains(ttl), range.contains(issuedAt ?? 0) else {
      throw ValidationError("--ttl and --issued-at are seconds, at most ten digits.")
    }
  }

  func run() throws {
    let issued = issuedAt.map { Date(timeIntervalSince1970: $0) } ?? .now
    switch sdk {
    case .messaging: print(try messagingToken(issued))
    case .chat: print(try chatToken(issued))
    case .inApp: print(inAppToken(issued))
    }
  }

  private func inAppToken(_ issued: Date) -> String {
    var token = DemoIdentityToken(subject: externalId, issuedAt: issued)
    token.lifetime = noExp ? nil : ttl
    if let kid { token.kid = kid }
    if let iss { token.issuer = iss }
    if let alg { token.algorithm = alg }
    return token.text
  }

  private func messagingToken(_ issued: Date) throws -> String {
    let kid = kid ?? DemoAccounts.kid
    var token = DemoToken(
      externalID: externalId, kid: kid, secret: try key() ?? DemoAccounts.keys[kid] ?? DemoAccounts.secret,
      issuedAt: issued)
    token.lifetime = noExp ? nil : ttl
    token.scope = scope ?? "user"
    token.name = Self.claim(name, otherwise: nil)
    token.email = Self.claim(email, otherwise: nil)
    return token.text
  }

  private func chatToken(_ issued: Date) throws -> String {
    var token = DemoChatToken(
      externalID: externalId, secret: try key() ?? DemoAccounts.chatSecret, issuedAt: issued)
    token.lifetime = noExp ? nil : ttl
    token.name = Self.claim(name, otherwise: token.name)
    token.email = Self.claim(email, otherwise: token.email)
    return token.text
  }

  private static func claim(_ given: String?, otherwise: String?) -> String? {
    given.map { $0.isEmpty ? nil : $0 } ?? otherwise
  }

  private func key() throws -> String? {
    if let secret { return secret }
    guard let secretFile else { return nil }
    guard let text = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
      throw CommandFailure("can't read \(secretFile)")
    }
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
