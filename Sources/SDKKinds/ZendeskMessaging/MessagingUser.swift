import JSONRPC
import SDKProtocol

/// The user response of the vendor, with the parts that we use. Every part may be absent.
struct MessagingUser {
  let id: String?
  let name: String?
  let email: String?
  let sessionToken: Secret?
  /// The URL of the realtime socket, as the vendor writes it; `nil` when realtime is not enabled.
  let realtimeURL: String?

  /// The maximum bytes of a session token.
  static let longestSession = 4096

  /// Reads a response. Names and e-mail addresses are truncated to their maximum size.
  ///
  /// - Throws: `badResponse` for an id or a session token with an invalid size.
  init(_ json: JSON) throws(SDKError) {
    let user = json["appUser"]
    id = user?["_id"]?.stringValue
    let names = [user?["givenName"]?.stringValue, user?["surname"]?.stringValue].compactMap { $0 }
    name = names.isEmpty ? nil : TextLimits.clipped(names.joined(separator: " "))
    email = (user?["email"]?.stringValue).map(TextLimits.clipped)
    sessionToken = (json["sessionToken"] ?? user?["sessionToken"])?.stringValue.map(Secret.init)
    let realtime = json["settings"]?["realtime"]
    realtimeURL = realtime?["enabled"]?.boolValue == true ? realtime?["baseUrl"]?.stringValue : nil
    guard id.map(TextLimits.isID) ?? true, (sessionToken?.reveal().utf8.count ?? 0) <= Self.longestSession else {
      throw SDKError(
        .unreachable, .badResponse, "Zendesk Messaging answered with a user whose _id or sessionToken can't be right.")
    }
  }
}
