public import SDKInstances

/// The kinds that this daemon hosts. Each has a folder here and a line in `all`.
public enum Kinds {
  /// All kinds.
  public static let all: [any SDKKind] = [
    ZendeskMessaging(),
    ZendeskSupport(),
    SalesforceChat(),
    EdnaChatCenter(),
    ZendeskChat(),
  ]
}
