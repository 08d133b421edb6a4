/// What every namespace of the sandbox starts with. The secrets are public: they protect nothing.
public enum DemoAccounts {
  /// The Messaging app, `{A}` in `/v2/apps/{A}/…`.
  public static let appID = "5f0000000000000000000001"
  /// Its integration, in the settings URL and in `/v2/integrations/{id}/config`.
  public static let integrationID = "5f0000000000000000000002"
  /// The key id that `mint` signs with.
  public static let kid = "app_demo"
  /// That key's secret.
  public static let secret = "sandbox-demo-secret-0001-protects-nothing"
  /// Signing secrets by key id.
  public static let keys = [
    kid: secret,
    "app_second": "sandbox-demo-secret-0002-protects-nothing",
  ]
  /// External ids to try with; any other works too, users are made at their first login.
  public static let externalIDs = ["alice", "bob", "carol"]
}
