/// The Chat accounts of every namespace (`vendors.md` 4).
extension DemoAccounts {
  /// The key of the account whose visitors can authenticate.
  public static let chatAccountKey = "sandboxChatAccountKey000000000001"
  /// The shared secret of that account.
  public static let chatSecret = "sandbox-demo-secret-0005-protects-nothing"
  /// The key of an account without a shared secret.
  public static let chatAccountKeyWithoutSecret = "sandboxChatAccountKey000000000002"
}
