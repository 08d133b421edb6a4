public import SDKInstances

/// The kinds that this daemon hosts: a folder and a line each.
public enum Kinds {
  /// All of them.
  public static let all: [any SDKKind] = [
    ZendeskMessaging(),
    ZendeskSupport(),
    SalesforceChat(),
    EdnaChatCenter(),
    ZendeskChat(),
  ]
}
