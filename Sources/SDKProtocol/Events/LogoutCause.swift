public import JSONRPC

/// The cause of a logout (sdkd-protocol(7)).
public enum LogoutCause: String, Sendable, Hashable, Codable, DescribedEnumeration {
  case explicit, implicit, deauthorized, `switch`, guest

  public static let jsonSchema = schema(named: "LogoutCause")

  public var meaning: String {
    switch self {
    case .explicit: "A call logged the user out."
    case .implicit: "The vendor ended the session, or no credential was to be had any more."
    case .deauthorized: "A call made the daemon forget the user; the vendor was not told."
    case .switch: "Another user took this one's place."
    case .guest: "The owner decided that the user goes on as a guest."
    }
  }
}
