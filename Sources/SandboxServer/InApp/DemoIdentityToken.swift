public import Foundation
import JSONRPC

/// The deployment, the keyset and the organisation of Messaging for In-App and Web in every namespace.
extension DemoAccounts {
  /// The id of the organisation, with 15 characters.
  public static let inAppOrganizationID = "00Dsandbox00001"
  /// The developer name of the deployment whose users prove who they are.
  public static let inAppDeployment = "Sandbox_Api"
  /// The developer name of the deployment whose users are guests.
  public static let inAppGuestDeployment = "Sandbox_Guests"
  /// The developer name of the deployment for v1 of the API whose users prove who they are.
  public static let inAppMobileDeployment = "Sandbox_Mobile"
  /// The developer name of the deployment for v1 of the API whose users are guests.
  public static let inAppMobileGuestDeployment = "Sandbox_Mobile_Guests"
  /// The issuer of the keyset.
  public static let inAppIssuer = "https://customer.example.test"
  /// The id of the key in the keyset.
  public static let inAppKid = "inapp_demo"
  /// The key of the keyset, an RSA key as PKCS #8 in base64. Like every secret here it is public and protects nothing.
  static let inAppPrivateKey = """
    MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCP4+B8dd9T2XzZCquf5OpVaLBNh5ACYDI7BZnHQ8JOk2eIfxlI/cefd9wZ\
    Ep90ZbgXToaxA0whN7u/kfnCoUdiCZYl6cvAAQzkbvoDXFCEIYEEHDPDhLJCny2U5aM268Wa1Ed9McKixTYjeagn/gVP52DFDnB62hKBcf5L\
    uPNn/Fa/7e4vC+FFbeq3UCSJUro6fAsQoiEXO+cqgcKpA296GKCcTtk7TsGyeysxsuz0iXVQaCjcDnaP+qFCA1gIbUmWoYOxd4kpxNNJ9XFJ\
    OfggrttQGEnDWhcrqA2RL5t3C4kk64E0k1KTeQN7RlgxEbfKveohKr3tXw3ARo3zBsilAgMBAAECggEAC3meXP6ffVXiZYK61ikQ4RfUu5Ic\
    k3vtdZSIQ4JtXAvYXWPZdd87TMXnyR4ZllRIXp92EWbUau/BatEu7G0lPrXKAiMHizvqNct958e0ah0r51KCdEzAVJzSK0Y3AnnCDAty2hKe\
    VZHJtAGPPgU9kjY/GugAY2PBxw36vDo3Oysfd58RIk/Mf8JIXJmYpDhcAatHSpQXmddUaqqFmDaGnl1TzQUp+HdIq9KTQsTww4mk1CS68Q9e\
    7AfWkDEU2IWjC0eMsO1fc5L4Jz2124FmFml8mBcZbAwweWwIfLUegcW2ggzExskjz7zjTJOp4FeoleQqxFLnFEizSWuN/hwvXwKBgQDD0ffP\
    q5UN2nGfTp5fhpktdTJtZ7JyvKBIoeOgYxPJHzUF3RBylgzw/YZQzf6pdG9SfGR/j+gysgo+IMl6HO/XmMftL4DVIMWsydymCJM59gFob+w/\
    7NRvW0OXhFOCHn0k5nhrTLlt9e2h0ZT0rs3ICEY++YB1uJj+rnX7MrpiHwKBgQC8HFhKFpUUu0B4basF2KAeGKn8+/cLP/1yTcta7tE3Xn3p\
    WEM53tJs5w1W7oHDMgGUG4YeUt577kLwu5uIkK4IBmR/+jvYmif9Ukga3F/Wi0oKisOPn2/0rztYjUI21oAf1DIlItpgyeMa3MHyVmzv8//g\
    nkoJ8SQ4vyRu6dNkuwKBgDaj7SEegJ33+UJ5nomLNkzP6f1LNSj850C9I5YKb2fsdFApikBfDEdmhscfY9MG8VUz7psFncYfleoWHgIb9vTS\
    5d6SJcHSvjXjsdUGiYZf1a69pE+GFxTng2nQ+7hQJ51XTfyq0QcU23UO1SCdckBBxtAlsKmok9Bk//jTA90DAoGAZ/iGuBR5O+cvgCCleWq9\
    PUVGl2SwrBAnRolHD7CWBLN+hn3ZUmAdEEI4tkbHhBrckn8QByyoefk8GJCpK7dD6X2XCMFHWLYDylkzL12EvzFnsCH4ayalm6lK9OvGoEa4\
    tF71hF8aMosDsnI35HjuZ0YGtKDorUwSSCclvQQSakcCgYBkzAdkz7EcSsHWYu7WvUEGhGLT3PTSd+2K00M5sYZ2zwwriWeI3hatjrmy9GdP\
    Pri30ONckCRqD9v2c4Zps9VkB2mx9JtaWUSuWd2ms/p+VaYDuvVxPW8CV4eftQ0NvySWKsyMaCcqXG9C8KsfgG4KBttFFBDp1eKtaOlrTjCt\
    Pw==
    """
}

/// An identity JWT for Messaging for In-App and Web, as a customer's server issues it.
public struct DemoIdentityToken: Sendable {
  /// The user's id at the customer: the claim `sub`.
  public var subject: String
  /// The time of issue: `iat`, in whole seconds.
  public var issuedAt: Date = .now
  /// The id of the signing key, for the header; `nil` leaves it out.
  public var kid: String? = DemoAccounts.inAppKid
  /// The claim `iss`; `nil` leaves it out.
  public var issuer: String? = DemoAccounts.inAppIssuer
  /// The lifetime after `issuedAt`, in seconds; `nil` leaves `exp` out.
  public var lifetime: TimeInterval? = 300
  /// The algorithm of the signature: `RS256` or `RS512`.
  public var algorithm = "RS256"

  /// The signed token. It differs at each access, since each has its own `jti`.
  public var text: String {
    let issued = issuedAt.timeIntervalSince1970.rounded(.down)
    let header = JSON.of(["alg": .string(algorithm), "kid": .optional(kid), "typ": "JWT"])
    let claims = JSON.of([
      "iss": .optional(issuer),
      "sub": .string(subject),
      "iat": .number(issued),
      "exp": lifetime.map { .number((issued + $0).rounded(.down)) },
      "jti": .string(UUID().uuidString.lowercased()),
    ])
    let input = "\(HS256.base64URL(header.encoded)).\(HS256.base64URL(claims.encoded))"
    let signature = RSASignature.make(of: input, algorithm: algorithm, key: DemoAccounts.inAppPrivateKey)
    return "\(input).\(HS256.base64URL(signature))"
  }
}

extension InAppBackend {
  static var mintsTokens: Bool { true }

  static func mint(_ request: MintRequest) throws(MintMistake) -> String {
    try request.check("kid", "iss", "alg")
    var token = DemoIdentityToken(subject: request.user, issuedAt: request.issuedAt)
    token.lifetime = request.lifetime
    token.kid = request.options["kid"] ?? token.kid
    token.issuer = request.options["iss"] ?? token.issuer
    token.algorithm = request.options["alg"] ?? token.algorithm
    guard ["RS256", "RS512"].contains(token.algorithm) else { throw MintMistake(message: "--alg is RS256 or RS512.") }
    return token.text
  }
}
