import JSONRPC

/// The answer of an OAuth 2.0 token endpoint (RFC 6749, 5.1), which `login` takes as it is, like a token provider's
/// format `oauth`.
struct TokenEndpointAnswer {
  private static let token = "access_token"
  /// Members of Salesforce's answers whose names in the contract have another form.
  private static let renamed = [
    "id": "identityUrl", "sfdc_community_url": "communityUrl", "sfdc_community_id": "communityId",
  ]

  private let object: JSONObject

  /// Takes JSON; `nil` if it is no such answer.
  ///
  /// - Throws: `CommandFailure` for an answer that reports a failure.
  init?(_ json: JSON?) throws {
    guard let object = json?.objectValue else { return nil }
    if let code = object["error"]?.stringValue, object[Self.token] == nil {
      // Only a code of the RFC's form is shown: anything else could be a secret.
      let isCode = code.utf8.count <= 64 && code.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
      throw CommandFailure.input("The token endpoint has refused\(isCode ? ": \(code)" : "").")
    }
    guard object[Self.token]?.stringValue != nil else { return nil }
    self.object = object
  }

  /// The token, for methods that take it alone.
  var text: String { object[Self.token]?.stringValue ?? "" }

  /// Returns the members that a shape has, under the shape's names; `nil` if the shape has no access token, or has
  /// a member of the answer's own form.
  func members(of shape: [String]) -> JSONObject? {
    guard shape.contains("accessToken"), !shape.contains(Self.token) else { return nil }
    let pairs = object.members.map { (Self.renamed[$0.key] ?? Self.camelCase($0.key), $0.value) }
    return JSONObject(pairs.filter { shape.contains($0.0) })
  }

  private static func camelCase(_ name: String) -> String {
    let words = name.split(separator: "_")
    return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
