public import JSONRPC
import SDKProtocol

/// An identity as a caller gives it: `{type: "anonymous", name?, email?}` or `{type: "jwt", token?}`.
public struct SupportIdentityInput: RPCValue, Hashable {
  let identity: SupportIdentity

  /// The maximum size, in bytes, of a name or an e-mail address, which events contain.
  private static let mostBytes = 1024

  private enum CodingKeys: String, CodingKey { case type, name, email, token }

  public static let jsonSchema = JSONSchema.named(
    "SupportIdentity",
    .object([
      .required(
        "type", SupportIdentity.Authentication.jsonSchema, "the type that the account is set up for"),
      .optional("name", .string(), "the name of an anonymous user"),
      .optional("email", .string(), "the e-mail of an anonymous user"),
      .optional(
        "token", .secret,
        "the opaque unique id of a jwt identity, a secret; without it the delegate or token provider supplies it"),
    ]))

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decodeIfPresent(String.self, forKey: .name)
    let email = try container.decodeIfPresent(String.self, forKey: .email)
    let token = try container.decodeIfPresent(Secret.self, forKey: .token)
    for (key, text) in [(CodingKeys.name, name), (.email, email)] where text?.utf8.count ?? 0 > Self.mostBytes {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container, debugDescription: "The \(key.stringValue) has more than \(Self.mostBytes) bytes.")
    }
    switch try container.decode(SupportIdentity.Authentication.self, forKey: .type) {
    case .anonymous:
      if token != nil { throw Self.misplaced(.token, "anonymous identities have no unique id", in: container) }
      identity = .anonymous(name: name, email: email)
    case .jwt:
      let why = "the vendor learns it from the customer's JWT endpoint"
      if name != nil { throw Self.misplaced(.name, why, in: container) }
      if email != nil { throw Self.misplaced(.email, why, in: container) }
      identity = token.map { .unique($0) } ?? .supplied(nil)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(identity.type, forKey: .type)
    try container.encodeIfPresent(identity.name, forKey: .name)
    try container.encodeIfPresent(identity.email, forKey: .email)
    try container.encodeIfPresent(identity.uniqueId, forKey: .token)
  }

  private static func misplaced(
    _ key: CodingKeys, _ why: String, in container: KeyedDecodingContainer<CodingKeys>
  ) -> DecodingError {
    DecodingError.dataCorruptedError(
      forKey: key, in: container, debugDescription: "Leave \(key.stringValue) out of this type of identity: \(why).")
  }
}
