import Foundation
import JSONRPC

/// The vendor's side of `salesforce.messaging`: Messaging for In-App and Web, with its public REST API (v2) and that of
/// the mobile SDKs (v1).
struct InAppBackend: SandboxBackend {
  static let prefix = "sm"
  static let controls = ["_event", "_keyset"]
  static let optionNames = InAppOptions.names

  /// An access token that was issued.
  struct Access: Sendable {
    let subject: String
    let deployment: String
    let expires: Date
    /// The id of the device that the client has sent.
    var device: String?
    var isRevoked = false
    /// Whether it is a continuation of another token.
    var isContinuation = false
  }

  /// A guest's refresh token.
  struct Refresh: Sendable {
    let subject: String
    let deployment: String
    let device: String?
    var isUsed = false
  }

  /// A device that takes push messages.
  struct Device: Sendable, Equatable {
    let subject: String
    let token: String
    let service: String
  }

  /// A conversation of a user.
  struct Conversation: Sendable {
    let owner: String
    let deployment: String
  }

  var settings = InAppOptions()
  var keysets = InAppKeysets()
  var accessTokens = BoundedStore<Access>(most: SandboxLimits.tokens)
  var refreshTokens = BoundedStore<Refresh>(most: SandboxLimits.tokens)
  /// The devices by their id, or by the user where the client sent none.
  var devices = BoundedStore<Device>(most: SandboxLimits.users)
  var conversations = BoundedStore<Conversation>(most: SandboxLimits.users)
  /// What has happened, oldest first. An event's number is its place from 1 on.
  var events: [InAppEvent] = []
  /// The number of guests that were made. A user whose JWT could not be verified becomes a guest too.
  var guests = 0

  /// A deployment: the API that it is for, and how its channel authenticates users.
  struct Deployment {
    let type: String
    let authMode: String
  }

  /// The deployments by developer name.
  static let deployments = [
    DemoAccounts.inAppDeployment: Deployment(type: "api", authMode: "Auth"),
    DemoAccounts.inAppGuestDeployment: Deployment(type: "api", authMode: "UnAuth"),
    DemoAccounts.inAppMobileDeployment: Deployment(type: "mobile", authMode: "Auth"),
    DemoAccounts.inAppMobileGuestDeployment: Deployment(type: "mobile", authMode: "UnAuth"),
  ]

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(InAppRefusal) {
      let path = call.path.joined(separator: "/")
      switch (call.method, path) {
      case ("POST", "iamessage/api/v2/authorization/authenticated/access-token"):
        return SandboxResponse(200, json: try exchange(call, for: "api"))
      case ("POST", "iamessage/v1/authorization/authenticated/accessToken"):
        return SandboxResponse(200, json: try exchange(call, for: "mobile"))
      case ("DELETE", "iamessage/api/v2/authorization/authenticated/access-token"),
        ("POST", "iamessage/v1/authorization/revokeToken"):
        try revoke(call)
        return SandboxResponse(204)
      case ("POST", "iamessage/api/v2/authorization/unauthenticated/access-token"),
        ("POST", "iamessage/v1/authorization/unauthenticated/accessToken"):
        return SandboxResponse(200, json: try makeGuest(call, for: call.path[1] == "v1" ? "mobile" : "api"))
      case ("POST", "iamessage/v1/authorization/unauthenticated/persistedToken"):
        return SandboxResponse(200, json: try makePersistedGuest(call))
      case ("POST", "iamessage/v1/authorization/renewToken"):
        return SandboxResponse(200, json: try renewGuest(call))
      case ("GET", "iamessage/api/v2/authorization/continuation-access-token"),
        ("GET", "iamessage/v1/authorization/continuityAccessToken"):
        return SandboxResponse(200, json: try continuation(call))
      case ("POST", "iamessage/v1/device/registerDeviceCapabilities"):
        try registerDevice(call)
        return SandboxResponse(204)
      case ("POST", "iamessage/api/v2/conversation"): return try openConversation(call)
      case ("GET", "iamessage/api/v2/conversation/list"): return SandboxResponse(200, json: try conversations(call))
      case ("DELETE", let path) where path.hasPrefix("iamessage/api/v2/conversation/"):
        return try closeConversation(call)
      case ("GET", "eventrouter/v1/sse"): return try openStream(call)
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

  /// Returns the name of a deployment, and throws for an unknown one, or one of another type.
  func deployment(_ name: String?, type: String? = nil) throws(InAppRefusal) -> String {
    guard let name, let found = Self.deployments[name], type == nil || found.type == type else {
      throw .notFound("Deployment")
    }
    return name
  }

  /// Returns the token of the call and its text, and throws unless it is valid.
  func authorized(_ call: BackendCall) throws(InAppRefusal) -> (text: String, access: Access) {
    guard let text = call.bearer, let access = accessTokens[text] else { throw .unauthorized("no known token") }
    if access.isRevoked { throw .unauthorized("the token was revoked") }
    guard access.expires > call.now else { throw .unauthorized("the token has expired") }
    return (text, access)
  }

  /// Returns a deployment's configuration.
  static func configuration(of name: String) -> JSON {
    let deployment = deployments[name]
    return [
      "embeddedServiceConfig": [
        "name": .string(name), "deploymentType": .string(deployment?.type ?? "api"), "forms": [],
        "embeddedServiceMessagingChannel": [
          "channelAddressIdentifier": "sandbox-channel", "authMode": .string(deployment?.authMode ?? "UnAuth"),
        ],
      ]
    ]
  }
}
