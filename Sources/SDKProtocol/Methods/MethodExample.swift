public import JSONRPC

/// A call of a method with its result, for the OpenRPC document.
public struct MethodExample: Sendable {
  /// The params.
  public let params: JSONObject
  /// The result.
  public let result: JSON

  /// Creates an example.
  public init(_ params: JSONObject = [:], result: JSON = [:]) {
    self.params = params
    self.result = result
  }
}

/// Values that several examples share.
extension MethodExample {
  /// A JWT for a user.
  public static let jwt: JSON =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFwcF9kZW1vIn0.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0.c2lnbmF0dXJl"
  /// The header that carries the JWT.
  public static let bearer: JSON =
    "Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6ImFwcF9kZW1vIn0.eyJleHRlcm5hbF9pZCI6ImFsaWNlIn0.c2lnbmF0dXJl"
  /// A user who is signed in.
  public static let user: JSON = [
    "id": "cb3375eca8fa493f8062f73d",
    "externalId": "alice",
    "authenticationType": "jwt",
    "authenticated": true,
    "verified": true,
    "since": "2026-11-24T08:42:35.272Z",
  ]
  /// An instance without a user.
  public static let instance = instance(floor: "1")
  /// The same instance with another label.
  public static let updatedInstance = instance(floor: "2")
  /// The version of this program.
  public static let program: JSON = .string(SDKVersion.program)
  /// The version of the contract.
  public static let api: JSON = .string(SDKVersion.api)

  /// Returns an instance without a user, with a label.
  static func instance(floor: String) -> JSON {
    [
      "instance": "front-desk",
      "kind": "zendesk.messaging",
      "source": "api",
      "state": "noUser",
      "user": ["authenticationType": "unauthenticated", "authenticated": false, "verified": false],
      "labels": ["floor": .string(floor)],
      "settings": ["base_url": "https://acme.zendesk.com/sc", "app_id": "5f0000000000000000000001", "realtime": "off"],
      "provider": ["command": ["/usr/libexec/sdkd/mint-token"]],
      "bridge": ["state": "closed", "attached": 0],
      "access": [:],
      "createdAt": "2026-11-24T08:42:35.272Z",
      "storageEpoch": "a694a686-0",
    ]
  }
}
