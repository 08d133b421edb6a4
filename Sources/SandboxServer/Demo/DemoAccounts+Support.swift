/// The Support account of every namespace (`vendors.md` 2).
extension DemoAccounts {
  /// The id of the app whose settings contain `authentication: "jwt"`.
  public static let supportAppID = "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79bd"
  /// The OAuth client id of that app, for `Client-Identifier`.
  public static let supportClientID = "mobile_sdk_client_sandbox_jwt"
  /// The id of the app whose settings contain `authentication: "anonymous"`.
  public static let supportAnonymousAppID = "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79be"
  /// The OAuth client id of that app.
  public static let supportAnonymousClientID = "mobile_sdk_client_sandbox_anonymous"
  /// The secret with which the customer's server signs and the vendor verifies.
  public static let supportSecret = "sandbox-demo-secret-0003-protects-nothing"
  /// The unique id of an agent. The exchange is refused for it, and for the e-mail of this name at `mailDomain`.
  public static let supportAgent = "agent"
  /// A unique id that the customer's server does not know.
  public static let supportStranger = "nobody"
  /// The domain of the demo users' e-mail addresses.
  public static let mailDomain = "example.test"
}
