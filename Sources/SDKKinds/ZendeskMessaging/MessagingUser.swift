import JSONRPC
import SDKInstances
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

  /// Reads a response. Names and e-mail addresses are truncated to their maximum size, and hold none of the secrets
  /// that were sent.
  ///
  /// - Throws: `badResponse` for an id or a session token that can't be one.
  init(_ json: JSON, without sent: SentSecrets) throws(SDKError) {
    // Clipped first: looking for secrets takes many times the memory of a text.
    func clean(_ text: String) -> String { TextLimits.clipped(sent.removed(from: text.clipped(toUTF8: 8192))) }
    let user = json["appUser"]
    id = user?["_id"]?.stringValue
    let names = [user?["givenName"]?.stringValue, user?["surname"]?.stringValue].compactMap { $0 }
    name = names.isEmpty ? nil : clean(names.joined(separator: " "))
    email = (user?["email"]?.stringValue).map { clean($0) }
    sessionToken = (json["sessionToken"] ?? user?["sessionToken"])?.stringValue.map(Secret.init)
    let realtime = json["settings"]?["realtime"]
    realtimeURL = realtime?["enabled"]?.boolValue == true ? realtime?["baseUrl"]?.stringValue : nil
    guard id.map({ TextLimits.isID($0) && !sent.isRepeated(in: $0) }) ?? true,
      (sessionToken?.reveal().utf8.count ?? 0) <= Self.longestSession,
      sessionToken.flatMap({ OpaqueText.mistake($0) }) == nil
    else {
      throw SDKError(
        .unreachable, .badResponse, "Zendesk Messaging answered with a user whose _id or sessionToken can't be right.")
    }
  }
}

/// The vendor's event `user:merge`, which names the surviving user.
struct MessagingMerge: Hashable {
  let survivor: String
  let externalId: String?
  let outgoing: String?
  let sessionToken: Secret?

  /// Returns the merges in published data, which holds one event or several.
  static func all(in data: JSON) -> [MessagingMerge] {
    (data["events"]?.arrayValue ?? data.arrayValue ?? [data]).compactMap { MessagingMerge($0) }
  }

  /// Reads a merge from an event; `nil` for any other event.
  init?(_ event: JSON) {
    guard event["type"]?.stringValue == "user:merge" else { return nil }
    let body = event["survivingAppUser"] == nil ? event["data"] ?? event["payload"] ?? event : event
    let user = body["survivingAppUser"]
    guard let id = user?["_id"]?.stringValue, TextLimits.isID(id) else { return nil }
    survivor = id
    externalId = user?["userId"]?.stringValue.flatMap { TextLimits.isID($0) ? $0 : nil }
    outgoing = body["outgoingAppUserId"]?.stringValue
    let token = (body["sessionToken"] ?? user?["sessionToken"])?.stringValue
    sessionToken = token.flatMap { (1...MessagingUser.longestSession).contains($0.utf8.count) ? Secret($0) : nil }
  }

  /// Returns the news for the identity's user; `nil` when the merge does not concern them.
  ///
  /// A JWT is kept, because it may be valid for the survivor too. Otherwise the vendor refuses it, and the owner is
  /// asked for another one. An anonymous user continues as an anonymous survivor. A merge into a known user signs the
  /// anonymous one out, as an implicit logout does, because no JWT of the known user was shown.
  func news(for identity: IdentityRecord, mode: String, now: Timestamp) -> RealtimeNews? {
    guard let former = identity.user.id, survivor != former, outgoing == nil || outgoing == former else { return nil }
    let merge = SignedIn.Merge(from: former, to: survivor, mode: mode)
    var user = identity.user
    user.id = survivor
    if identity.credential?.type == .jwt {
      if let externalId, !user.externalId.hasSameBytes(as: externalId) {
        user = User(
          id: survivor, externalId: externalId, authenticationType: .jwt, authenticated: true, verified: false,
          since: now)
      }
      return .merged(merge, user: user, credential: nil, kindState: identity.kindState)
    }
    if externalId != nil { return .mergedAway(merge) }
    let credential = sessionToken.map {
      Credential(token: $0, type: .sessionToken, obtainedAt: now, expiresAt: nil)
    }
    return .merged(merge, user: user, credential: credential, kindState: identity.kindState)
  }
}
