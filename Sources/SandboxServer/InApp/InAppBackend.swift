import Foundation
import JSONRPC

/// The vendor's side of `salesforce.messaging`: the public REST API of Messaging for In-App and Web.
struct InAppBackend: SandboxBackend {
  static let prefix = "sm"
  static let optionNames = InAppOptions.names

  /// An access token that was issued.
  struct Access: Sendable {
    let subject: String
    let deployment: String
    let expires: Date
    var isRevoked = false
    /// Whether it is a continuation of another token.
    var isContinuation = false
  }

  /// A conversation of a user.
  struct Conversation: Sendable {
    let owner: String
    let deployment: String
  }

  var settings = InAppOptions()
  /// The public keys of the keyset in PEM, by key id.
  var keyset = [DemoAccounts.inAppKid: demoKey]
  var accessTokens = BoundedStore<Access>(most: SandboxLimits.tokens)
  var conversations = BoundedStore<Conversation>(most: SandboxLimits.users)
  /// The subjects of guests that were made, also in place of users whose JWT could not be verified.
  var guests = 0

  private static let demoKey = RSASignature.publicKey(of: DemoAccounts.inAppPrivateKey)

  /// How the deployments authenticate users, by developer name.
  static let deployments = [
    DemoAccounts.inAppDeployment: "Auth", DemoAccounts.inAppGuestDeployment: "UnAuth",
  ]

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(InAppRefusal) {
      let path = call.path.joined(separator: "/")
      switch (call.method, path) {
      case ("POST", "iamessage/api/v2/authorization/authenticated/access-token"):
        return SandboxResponse(200, json: try exchange(call))
      case ("DELETE", "iamessage/api/v2/authorization/authenticated/access-token"):
        try revoke(call)
        return SandboxResponse(204)
      case ("POST", "iamessage/api/v2/authorization/unauthenticated/access-token"):
        return SandboxResponse(200, json: try makeGuest(call))
      case ("GET", "iamessage/api/v2/authorization/continuation-access-token"):
        return SandboxResponse(200, json: try continuation(call))
      case ("POST", "iamessage/api/v2/conversation"): return try openConversation(call)
      case ("GET", "iamessage/api/v2/conversation/list"): return SandboxResponse(200, json: try conversations(call))
      case ("GET", "embeddedservice/v1/embedded-service-config"):
        return SandboxResponse(200, json: Self.configuration(of: try deployment(call.query["esConfigName"])))
      case ("GET", "embeddedservice/v1/businesshours"):
        _ = try deployment(call.query["esConfigName"])
        return SandboxResponse(204)
      default: throw .notFound("Resource")
      }
    } catch {
      return error.response
    }
  }

  /// Returns the deployment of a name, and throws for an unknown one.
  func deployment(_ name: String?) throws(InAppRefusal) -> String {
    guard let name, Self.deployments[name] != nil else { throw .notFound("Deployment") }
    return name
  }

  /// Returns the token of the call and its text, and throws unless it is valid.
  func authorized(_ call: BackendCall) throws(InAppRefusal) -> (text: String, access: Access) {
    guard let text = call.bearer, let access = accessTokens[text] else { throw .unauthorized("no known token") }
    if access.isRevoked { throw .unauthorized("the token was revoked") }
    guard access.expires > call.now else { throw .unauthorized("the token has expired") }
    return (text, access)
  }

  private mutating func openConversation(_ call: BackendCall) throws(InAppRefusal) -> SandboxResponse {
    let access = try authorized(call).access
    guard let id = JSON(parsing: call.body)?["conversationId"]?.stringValue, UUID(uuidString: id) != nil,
      id == id.lowercased()
    else { throw InAppRefusal(400, "conversationId must be a UUID in lower case") }
    if let known = conversations[id] {
      guard known.owner == access.subject, known.deployment == access.deployment else {
        throw InAppRefusal(403, "Forbidden", note: "the conversation is another user's")
      }
      return SandboxResponse(200, json: ["conversationId": .string(id)])
    }
    conversations[id] = .init(owner: access.subject, deployment: access.deployment)
    return SandboxResponse(201, json: ["conversationId": .string(id)])
  }

  private func conversations(_ call: BackendCall) throws(InAppRefusal) -> JSON {
    let access = try authorized(call).access
    let own = conversations.entries.filter { $0.value.owner == access.subject }
    return ["conversations": .array(own.map { ["conversationId": .string($0.key)] })]
  }

  /// Returns a deployment's configuration.
  static func configuration(of name: String) -> JSON {
    [
      "embeddedServiceConfig": [
        "name": .string(name), "deploymentType": "api", "forms": [],
        "embeddedServiceMessagingChannel": [
          "channelAddressIdentifier": "sandbox-channel", "authMode": .string(deployments[name] ?? "UnAuth"),
        ],
      ]
    ]
  }
}
