import Foundation
import JSONRPC

extension SalesforceBackend {
  /// Returns the user of the call's access token, for the REST API at an instance.
  func authorized(_ call: BackendCall, at instance: String?) throws(SalesforceRefusal) -> String {
    guard let (grant, access) = bearer(call) else { throw .invalidSession("no Bearer token, or an unknown one") }
    if access.isRevoked { throw .invalidSession("the access token was revoked") }
    guard access.expires > call.now else { throw .invalidSession("the access token has expired") }
    // A community is not an instance: it accepts every token of the organisation.
    let anywhere = call.path.first == "communities"
    guard anywhere || access.instance == instance else { throw .invalidSession("the token is another instance's") }
    return grant.user
  }

  /// Handles `GET /services/oauth2/userinfo`.
  func userInfo(_ call: BackendCall) throws(SalesforceRefusal) -> JSON {
    let user = try identified(call)
    return [
      "sub": .string(Self.identityURL(of: user, baseURL: call.baseURL)),
      "user_id": .string(Self.userID(of: user)),
      "organization_id": .string(DemoAccounts.salesforceOrganizationID),
      "preferred_username": .string("\(user)@\(DemoAccounts.mailDomain)"),
      "name": .string(user),
      "email": .string("\(user)@\(DemoAccounts.mailDomain)"),
    ]
  }

  /// Handles `GET /id/{organization}/{user}`.
  func identity(organization: String, user id: String, _ call: BackendCall) throws(SalesforceRefusal) -> JSON {
    let user = try identified(call)
    guard organization == DemoAccounts.salesforceOrganizationID, id == Self.userID(of: user) else {
      throw .badToken("the token is another user's")
    }
    return [
      "id": .string(Self.identityURL(of: user, baseURL: call.baseURL)),
      "user_id": .string(id), "organization_id": .string(organization),
      "username": .string("\(user)@\(DemoAccounts.mailDomain)"), "display_name": .string(user), "active": true,
    ]
  }

  /// Handles `POST sobjects/MobilePushServiceDevice`.
  mutating func createDevice(_ user: String, _ call: BackendCall) throws(SalesforceRefusal) -> JSON {
    let body = JSON(parsing: call.body)
    guard let token = body?["ConnectionToken"]?.stringValue, let type = body?["ServiceType"]?.stringValue,
      !token.isEmpty
    else {
      throw .rest(400, "REQUIRED_FIELD_MISSING", "Required fields are missing: [ConnectionToken, ServiceType]")
    }
    let device = SalesforceDevice(
      id: "0Mp\(Self.random("").prefix(15))", user: user, connectionToken: token, serviceType: type)
    devices[device.id] = device
    return ["id": .string(device.id), "success": true, "errors": []]
  }

  /// Handles `DELETE sobjects/MobilePushServiceDevice/{id}`.
  mutating func deleteDevice(_ id: String, of user: String) throws(SalesforceRefusal) {
    guard devices[id]?.user == user else { throw .notFound("no such device of this user") }
    devices[id] = nil
  }

  /// Returns the user of the call's access token, for the identity services, which refuse in plain text.
  private func identified(_ call: BackendCall) throws(SalesforceRefusal) -> String {
    guard let (grant, access) = bearer(call) else { throw .badToken("no Bearer token, or an unknown one") }
    if access.isRevoked { throw .badToken("the access token was revoked") }
    guard access.expires > call.now else { throw .badToken("the access token has expired") }
    return grant.user
  }

  private func bearer(_ call: BackendCall) -> (SalesforceGrant, SalesforceGrant.Access)? {
    guard let token = call.bearer, let access = accessTokens[token], let grant = grants[access.grant] else {
      return nil
    }
    return (grant, access)
  }
}
