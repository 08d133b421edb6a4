public import SDKInstances
import SDKProtocol

/// The kinds that this daemon hosts. Each has a folder here and a line in `all`.
public enum Kinds {
  /// All kinds.
  public static let all: [any SDKKind] = [
    ZendeskMessaging(),
    ZendeskSupport(),
    SalesforceChat(),
    EdnaChatCenter(),
    ZendeskChat(),
    SalesforceMessaging(),
  ]
}

/// The names of the kinds, by which a kind's methods say which instances they are for.
extension KindName {
  static let zendeskMessaging = KindName("zendesk.messaging")
  static let zendeskSupport = KindName("zendesk.support")
  static let zendeskChat = KindName("zendesk.chat")
  static let salesforceChat = KindName("salesforce.chat")
  static let ednaChatCenter = KindName("edna.chatcenter")
  static let salesforceMessaging = KindName("salesforce.messaging")
}
