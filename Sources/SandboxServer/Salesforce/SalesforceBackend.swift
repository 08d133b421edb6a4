import Foundation
import JSONRPC

/// The vendor's side of `salesforce.chat`: OAuth and one authenticated resource.
struct SalesforceBackend: SandboxBackend {
  static let prefix = "sf"
  static let controls = ["_grant"]
  static let optionNames = SalesforceOptions.names
  /// The maximum number of grants of a user for an app. A further grant ends the oldest.
  static let grantsPerUser = 5

  var settings = SalesforceOptions()
  var clients = SalesforceClient.demo
  var grants = BoundedStore<SalesforceGrant>(most: SandboxLimits.users)
  /// The grant id of every refresh token issued so far, spent ones included.
  var refreshTokens = BoundedStore<String>(most: SandboxLimits.tokens)
  var accessTokens = BoundedStore<SalesforceGrant.Access>(most: SandboxLimits.tokens)
  var devices = BoundedStore<SalesforceDevice>(most: SandboxLimits.users)
  /// The requests to the revocation endpoint, oldest first.
  var revocations: [SalesforceRevocation] = []

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(SalesforceRefusal) {
      let (route, instance) = try SalesforceRoute.find(method: call.method, path: call.path)
      switch route {
      case .token: return SandboxResponse(200, json: try refresh(call))
      case .revoke:
        try revoke(call)
        return SandboxResponse(200)
      case .userInfo: return SandboxResponse(200, json: try userInfo(call))
      case .identity(let organization, let user):
        return SandboxResponse(200, json: try identity(organization: organization, user: user, call))
      case .limits:
        _ = try authorized(call, at: instance)
        return SandboxResponse(200, json: ["DailyApiRequests": ["Max": 15_000, "Remaining": 14_999]])
      case .createDevice:
        return SandboxResponse(201, json: try createDevice(try authorized(call, at: instance), call))
      case .deleteDevice(let id):
        try deleteDevice(id, of: try authorized(call, at: instance))
        return SandboxResponse(204)
      }
    } catch {
      return error.response
    }
  }

  /// Returns the id of a user, always the same for a name: `005` and up to fifteen more characters.
  static func userID(of user: String) -> String {
    "005\(HS256.digest(of: user).filter { $0.isLetter || $0.isNumber }.prefix(15))"
  }

  /// Returns the URL that identifies a user, the member `id` of a token response.
  static func identityURL(of user: String, baseURL: String) -> String {
    "\(baseURL)/id/\(DemoAccounts.salesforceOrganizationID)/\(userID(of: user))"
  }
}
