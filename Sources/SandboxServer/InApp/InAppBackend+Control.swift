import Foundation
import JSONRPC

extension InAppBackend {
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    try keysets.setKey(kid, to: secret)
  }

  /// Handles `POST /_keyset`, and `POST /_event`: `externalId`, `event` and `data` of an event for that user's streams.
  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON {
    guard name == "_event" else { return try keysets.set(call.body) }
    let members = try ControlMembers(call.body, known: ["data", "event", "externalId"])
    let subject = try members.requiredText("externalId")
    let known = accessTokens.entries.last { $0.value.subject.hasSuffix("uid:\(subject)") }?.value.subject
    guard let known else { throw ControlMistake("externalId", "has no access token") }
    emit(.init(subject: known, name: try members.requiredText("event"), data: members.value("data") ?? [:]))
    return ["lastEventId": .number(Double(events.count))]
  }

  /// Revokes the user's access tokens.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    accessTokens.change { if $0.subject.hasSuffix("uid:\(externalID)") { $0.isRevoked = true } }
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) { try settings.set(members) }

  var options: JSON { settings.tree }

  var keys: JSON { keysets.tree }

  func errorBody(for status: Int) -> JSON { InAppRefusal.standard(for: status).tree }

  /// Returns the tokens, devices and conversations, oldest first.
  func state(baseURL: String) -> JSON {
    [
      "accessTokens": .array(
        accessTokens.entries.map { key, access in
          [
            "accessToken": .string(key), "subject": .string(access.subject), "deployment": .string(access.deployment),
            "expiresAt": .number(access.expires.timeIntervalSince1970), "revoked": .bool(access.isRevoked),
            "deviceId": .optional(access.device) ?? .null,
            "continuation": .bool(access.isContinuation),
          ]
        }),
      "conversations": .array(
        conversations.entries.map { ["conversationId": .string($0.key), "owner": .string($0.value.owner)] }),
      "devices": .array(
        devices.entries.map { key, device in
          [
            "deviceId": .string(key), "subject": .string(device.subject), "deviceToken": .string(device.token),
            "pushServiceProvider": .string(device.service),
          ]
        }),
      "refreshTokens": .array(
        refreshTokens.entries.map {
          ["refreshToken": .string($0.key), "subject": .string($0.value.subject), "used": .bool($0.value.isUsed)]
        }),
      "guests": .number(Double(guests)),
    ]
  }
}

/// The options of the in-app messaging backend (`POST /_options`), for behaviour that a scripted response can't
/// produce.
struct InAppOptions: Sendable {
  /// The lifetime of access tokens in seconds.
  var ttl: Double = 3_600
  /// Whether each exchange is answered with a guest's token, as the vendor does for some JWTs it can't verify.
  var answersGuest = false
  /// Whether the channel has no active user verification.
  var isWithoutSchemes = false
  /// The user that access tokens are issued for; `nil` for the JWT's.
  var subject: String?
  /// The access token of each exchange; `nil` for a new one.
  var accessToken: String?
  /// The id of the last event in the answers of exchanges.
  var lastEventID = 0
  /// Whether each identity JWT is refused as expired.
  var saysExpired = false
  /// The seconds between two pings on a stream.
  var ping = 1.0

  static let names = ["accessToken", "expired", "guest", "lastEventId", "noActiveSchemes", "ping", "subject", "ttl"]

  mutating func set(_ members: ControlMembers) throws(ControlMistake) {
    var new = self
    let standard = InAppOptions()
    if members.has("ttl") { new.ttl = try members.number("ttl", in: -1e6...1e9) ?? standard.ttl }
    if members.has("guest") { new.answersGuest = try members.flag("guest") }
    if members.has("noActiveSchemes") { new.isWithoutSchemes = try members.flag("noActiveSchemes") }
    if members.has("expired") { new.saysExpired = try members.flag("expired") }
    if members.has("ping") { new.ping = try members.number("ping", in: 0.01...600) ?? standard.ping }
    if members.has("subject") { new.subject = try members.text("subject") }
    if members.has("accessToken") { new.accessToken = members.value("accessToken")?.stringValue }
    if members.has("lastEventId") {
      new.lastEventID = try members.integer("lastEventId", in: 0...1_000_000_000) ?? standard.lastEventID
    }
    self = new
  }

  var tree: JSON {
    [
      "ttl": .number(ttl), "guest": .bool(answersGuest), "noActiveSchemes": .bool(isWithoutSchemes),
      "subject": .optional(subject) ?? .null, "accessToken": .optional(accessToken) ?? .null,
      "lastEventId": .number(Double(lastEventID)), "expired": .bool(saysExpired), "ping": .number(ping),
    ]
  }
}
