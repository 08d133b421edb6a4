import Foundation
import JSONRPC

/// The customer's server in the vendor's unique-identity exchange, in process.
///
/// It accepts `user_token=<unique id>` as a form and responds with `{"jwt":…}`. The text before the first colon of a
/// unique id is the user: `alice`, `alice:1` and `alice:2` are one user whose unique id changes. A user `NAME` has the
/// e-mail `NAME@example.test`, unless the name is itself an address. The user `nobody` is unknown.
struct CustomerEndpoint {
  let secret: String
  let mode: Mode
  let refused: [String]

  /// The behaviour of the endpoint.
  enum Mode: String, CaseIterable, Sendable {
    /// Responds correctly.
    case up
    /// Can't be reached.
    case down
    /// Accepts JSON only, a common mistake: it responds to the vendor's form with 415.
    case json
    /// Fails with 500.
    case failing
    /// Responds with 200 and a text that is not a JWT.
    case nonsense
  }

  /// Returns the response to a request; `nil` if the endpoint can't be reached.
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
    let claims: JSON = [
      "iat": .number(now.timeIntervalSince1970.rounded(.down)),
      "jti": .string(UUID().uuidString.lowercased()),
      "name": .string(name),
      "email": .string(name.contains("@") ? name : "\(name)@\(DemoAccounts.mailDomain)"),
    ]
    return SandboxResponse(200, json: ["jwt": .string(HS256.token(claims, secret: secret))])
  }
}
