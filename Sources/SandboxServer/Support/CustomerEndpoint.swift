import Foundation

/// The server that a customer runs for the vendor's unique-identity exchange (`vendors.md` 2.1 and 2.2), in process.
///
/// It takes `user_token=<unique id>` as a form and answers `{"jwt":…}`. Every unique id is somebody's: what comes
/// before its first colon is the user, so that `alice`, `alice:1` and `alice:2` are one user whose unique id changes.
/// A user `NAME` has the e-mail `NAME@example.test`, unless the name is an address itself. The user `nobody` is unknown.
struct CustomerEndpoint {
  let secret: String
  let mode: Mode
  let refused: [String]

  /// How it is set up.
  enum Mode: String, CaseIterable, Sendable {
    /// As it should be.
    case up
    /// Nobody listens.
    case down
    /// A server that reads JSON only, the common mistake: it answers the vendor's form with 415.
    case json
    /// It fails with 500.
    case failing
    /// It answers 200 with something that is no JWT.
    case nonsense
  }

  /// The answer to a request; `nil` when it can't be reached.
  func answer(contentType: String, body: Data, now: Date) -> SandboxResponse? {
    switch mode {
    case .down: return nil
    case .json: return SandboxResponse(415, json: ["error": "expected application/json"])
    case .failing: return SandboxResponse(500, json: ["error": "internal"])
    case .nonsense: return SandboxResponse(200, json: ["jwt": "not-a-jwt"])
    case .up: break
    }
    guard let token = FormBody.items(body, contentType: contentType)?["user_token"], !token.isEmpty else {
      return SandboxResponse(400, json: ["error": "user_token is missing"])
    }
    let name = String(token.prefix { $0 != ":" })
    guard !name.isEmpty, name != DemoAccounts.supportStranger, !refused.contains(token) else {
      return SandboxResponse(401, json: ["error": "unknown user_token"])
    }
    let claims: JSONTree = [
      "iat": .number(now.timeIntervalSince1970.rounded(.down)),
      "jti": .string(UUID().uuidString.lowercased()),
      "name": .string(name),
      "email": .string(name.contains("@") ? name : "\(name)@\(DemoAccounts.mailDomain)"),
    ]
    return SandboxResponse(200, json: ["jwt": .string(HS256.token(claims, secret: secret))])
  }
}
