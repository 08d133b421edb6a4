import Foundation
import JSONRPC

extension SupportBackend {
  /// Handles `POST /access/sdk/jwt`: the customer's endpoint exchanges the unique id for a JWT, which names the user.
  mutating func exchangeUniqueID(_ client: String, _ call: BackendCall) throws(SupportRefusal) -> JSON {
    guard authentication(of: client) == .jwt else { throw .unauthenticated("the app's authentication is anonymous") }
    guard let user = try Self.body(call).given("user"), let token = try Self.text("token", in: user), !token.isEmpty
    else {
      throw .badRequest("user.token is missing")
    }
    let claims = try verify(try customerJWT(token, now: call.now), now: call.now)
    return try answer(.verified(email: claims.email), name: claims.name, email: claims.email)
  }

  /// Handles `POST /access/sdk/anonymous`: the same guid is the same user, whatever name and e-mail come with it.
  mutating func exchangeAnonymous(_ client: String, _ call: BackendCall) throws(SupportRefusal) -> JSON {
    guard authentication(of: client) == .anonymous else { throw .unauthenticated("the app's authentication is jwt") }
    guard let user = try Self.body(call).given("user"), let guid = try Self.text("sdk_guid", in: user) else {
      throw .badRequest("user.sdk_guid is missing")
    }
    guard UUID(uuidString: guid) != nil else { throw .badRequest("user.sdk_guid is no UUID") }
    let name = try Self.text("name", in: user)
    let email = try Self.text("email", in: user)
    return try answer(.anonymous(guid: guid.lowercased()), name: name, email: email)
  }

  /// Issues an access token to the user, created if needed: `{"authentication":{"access_token","user_id"}}`.
  private mutating func answer(
    _ identity: SupportUser.Identity, name: String?, email: String?
  ) throws(SupportRefusal) -> JSON {
    if let email, email.lowercased() == "\(DemoAccounts.supportAgent)@\(DemoAccounts.mailDomain)" {
      throw .forbidden("\(email) is an agent's")
    }
    guard users[identity] != nil || users.count < SandboxLimits.users else { throw .full("users") }
    var user = users[identity] ?? SupportUser(id: newID(), identity: identity)
    user.name = name
    user.email = email
    users[identity] = user
    let token = "zs_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
    tokens[token] = AccessToken(identity: identity)
    return [
      "authentication": .of(["access_token": .string(token), "user_id": settings.userID(user.id)])
    ]
  }

  /// Returns the JWT of the customer's endpoint for a unique id.
  private mutating func customerJWT(_ uniqueID: String, now: Date) throws(SupportRefusal) -> String {
    let endpoint = CustomerEndpoint(secret: customerSecret, mode: settings.customer, refused: settings.refusedIDs)
    let answer = endpoint.answer(
      contentType: FormBody.contentType, body: FormBody.encode(["user_token": uniqueID]), now: now)
    customerCalls.append((uniqueID, answer?.status ?? 0))
    if customerCalls.count > SandboxLimits.record { customerCalls.removeFirst() }
    guard let answer else { throw .unauthenticated("the customer's JWT endpoint is down") }
    guard answer.status == 200 else { throw .unauthenticated("the customer's JWT endpoint answered \(answer.status)") }
    guard let jwt = JSON(parsing: answer.body)?["jwt"]?.stringValue else {
      throw .unauthenticated("the customer's JWT endpoint answered without jwt")
    }
    return jwt
  }

  /// Verifies the customer's JWT by the vendor's rules.
  private mutating func verify(_ text: String, now: Date) throws(SupportRefusal) -> (name: String, email: String) {
    guard let token = SignedToken(text) else { throw .unauthenticated("the customer's jwt is no JWT") }
    guard token.header["alg"] == "HS256" else { throw .unauthenticated("the customer's jwt is not HS256") }
    guard token.isSigned(with: vendorSecret) else { throw .unauthenticated("the customer's jwt is wrongly signed") }
    guard let issued = token.claims["iat"]?.doubleValue, abs(issued - now.timeIntervalSince1970) <= 180 else {
      throw .unauthenticated("the customer's jwt has no iat of the last three minutes")
    }
    guard let jti = token.claims["jti"]?.stringValue, !jti.isEmpty, spent[jti] == nil else {
      throw .unauthenticated("the customer's jwt has no jti, or a spent one")
    }
    guard let name = token.claims["name"]?.stringValue, let email = token.claims["email"]?.stringValue, !email.isEmpty
    else {
      throw .unauthenticated("the customer's jwt lacks name or email")
    }
    spent[jti] = true
    return (name, email)
  }
}
