/// The Chat accounts of every namespace (`vendors.md` 4).
extension DemoAccounts {
  /// The account whose visitors can authenticate.
  public static let chatAccountKey = "sandboxChatAccountKey000000000001"
  /// Its shared secret.
  public static let chatSecret = "sandbox-demo-secret-0005-protects-nothing"
  /// An account for which no shared secret was ever made.
  public static let chatAccountKeyWithoutSecret = "sandboxChatAccountKey000000000002"
}
