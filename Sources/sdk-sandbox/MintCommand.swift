import ArgumentParser
import Foundation
import SandboxServer

/// `sdk-sandbox mint`: prints a JWT such as the customer's server issues.
struct MintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mint", abstract: "Print a signed JWT for a user of the demo accounts.",
    discussion: "Needs no running sandbox. Two tokens are never equal: each has its own jti.")

  @Option(help: "The SDK it is for: \(DemoMint.names.joined(separator: ", ")), or the name of its kind.")
  var sdk = DemoMint.names[0]

  @Option(
    name: [.customLong("external-id"), .customLong("sub")], help: "The user's external_id; in RSA-signed ones the sub.")
  var externalId: String

  @Option(help: "The signing key's id; not for chat. Default: that of the demo key.")
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

  @Option(help: "The iss claim; for SDKs with keysets. Default: that of the demo keyset.")
  var iss: String?

  @Option(help: "RS256 or RS512, for SDKs with keysets. Default: RS256.")
  var alg: String?

  @Option(help: "The scope claim; messaging only. appUser is the legacy form with userId. Default: user.")
  var scope: String?

  @Option(help: "When it was issued, in seconds since 1970. Default: now.")
  var issuedAt: Double?

  func validate() throws {
    if secret != nil, secretFile != nil { throw ValidationError("Give --secret or --secret-file, not both.") }
    let range = -1e10...1e10
    guard range.contains(ttl), range.contains(issuedAt ?? 0) else {
      throw ValidationError("--ttl and --issued-at are seconds, at most ten digits.")
    }
  }

  func run() throws {
    let issued = issuedAt.map { Date(timeIntervalSince1970: $0) } ?? .now
    var options: [String: String] = [:]
    options["kid"] = kid
    options["secret"] = try key()
    options["name"] = name
    options["email"] = email
    options["iss"] = iss
    options["alg"] = alg
    options["scope"] = scope
    let request = MintRequest(user: externalId, issuedAt: issued, lifetime: noExp ? nil : ttl, options: options)
    do throws(MintMistake) {
      print(try DemoMint.token(for: sdk, request))
    } catch {
      throw ValidationError(error.message)
    }
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
