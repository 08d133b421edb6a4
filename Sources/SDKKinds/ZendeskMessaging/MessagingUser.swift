import JSONRPC
import SDKProtocol

/// The user response of `vendors.md` 1.2, as far as it concerns us; every part may be absent.
struct MessagingUser {
  let id: String?
  let name: String?
  let email: String?
  let sessionToken: Secret?
  /// Where the realtime socket is, as the vendor writes it; `nil` when there is to be none.
  let realtimeURL: String?

  init(_ json: JSON) {
    let user = json["appUser"]
    id = user?["_id"]?.stringValue
    let names = [user?["givenName"]?.stringValue, user?["surname"]?.stringValue].compactMap { $0 }
    name = names.isEmpty ? nil : names.joined(separator: " ")
    email = user?["email"]?.stringValue
    sessionToken = (json["sessionToken"] ?? user?["sessionToken"])?.stringValue.map(Secret.init)
    let realtime = json["settings"]?["realtime"]
    realtimeURL = realtime?["enabled"]?.boolValue == true ? realtime?["baseUrl"]?.stringValue : nil
  }
}
