/// The Support account of every namespace (`vendors.md` 2).
extension DemoAccounts {
  /// The app whose settings say `authentication: "jwt"`.
  public static let supportAppID = "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79bd"
  /// The OAuth client of that app, for `Client-Identifier`.
  public static let supportClientID = "mobile_sdk_client_sandbox_jwt"
  /// The app whose settings say `authentication: "anonymous"`.
  public static let supportAnonymousAppID = "e5dd7520b178e21212f5cc2751a28f4b5a7dc76698dc79be"
  /// The OAuth client of that app.
  public static let supportAnonymousClientID = "mobile_sdk_client_sandbox_anonymous"
  /// What the customer's server signs with and the vendor verifies with.
  public static let supportSecret = "sandbox-demo-secret-0003-protects-nothing"
  /// An agent: by this unique id, or by this name's e-mail.
  public static let supportAgent = "agent"
  /// A unique id that the customer's server does not know.
  public static let supportStranger = "nobody"
  /// Where the e-mail addresses of the demo users are.
  public static let mailDomain = "example.test"
}
