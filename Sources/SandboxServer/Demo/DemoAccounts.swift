/// The accounts that every namespace of the sandbox starts with. Their secrets are public and protect nothing.
public enum DemoAccounts {
  /// The id of the Messaging app, `{A}` in `/v2/apps/{A}/…`.
  public static let appID = "5f0000000000000000000001"
  /// The integration of that app, in the settings URL and in `/v2/integrations/{id}/config`.
  public static let integrationID = "5f0000000000000000000002"
  /// The id of the key that `mint` signs with by default.
  public static let kid = "app_demo"
  /// The secret of that key.
  public static let secret = "sandbox-demo-secret-0001-protects-nothing"
  /// The signing secrets by key id.
  public static let keys = [
    kid: secret,
    "app_second": "sandbox-demo-secret-0002-protects-nothing",
  ]
  /// Example external ids. Any other id works too: a user is created at the first login.
  public static let externalIDs = ["alice", "bob", "carol"]
}
