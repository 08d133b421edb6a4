import Foundation
import JSONRPC

/// The handling of `sendMessage` and the contents that it accepts.
extension EdnaBackend {
  /// Handles a message and returns its acknowledgement.
  mutating func take(
    _ data: JSON, _ session: EdnaSession, _ frame: SocketFrame
  ) throws(EdnaRefusal) -> JSON {
    try check(session, at: frame.now)
    guard data["deviceAddress"]?.stringValue == session.deviceAddress else {
      throw .badRequest("deviceAddress is not the registered one")
    }
    let content = data.given("content") ?? [:]
    guard let type = content["type"]?.stringValue else { throw .badRequest("content has no type") }
    switch type {
    case "INIT_CHAT":
      try Self.checkClient(content, session)
      sessions[frame.socket]?.step = .initiated
      if let data = content.given("data") { users[session.user]?.data = data }
    case "CLIENT_INFO":
      try Self.checkClient(content, session)
      if session.step == .registered { throw .badRequest("CLIENT_INFO before INIT_CHAT") }
      try inform(content, session)
      sessions[frame.socket]?.step = .informed
    case "CLIENT_OFFLINE":
      try Self.checkClient(content, session)
      signOff(session, frame)
    default:
      if session.step != .informed { throw .badRequest("\(type) before CLIENT_INFO") }
    }
    return [
      "messageId": .string(UUID().uuidString.lowercased()), "sentAt": .string(frame.now.ISO8601Format()),
      "status": "sent",
    ]
  }

  private static func checkClient(_ content: JSON, _ session: EdnaSession) throws(EdnaRefusal) {
    guard content["clientId"]?.stringValue == session.clientID else {
      throw .badRequest("clientId is not the registered one")
    }
  }

  private mutating func inform(_ content: JSON, _ session: EdnaSession) throws(EdnaRefusal) {
    if content["clientIdIsEncrypted"] == true, users[session.user]?.identifier.decrypted == nil {
      throw .unauthorized("invalid", "clientIdIsEncrypted, but the id can't be decrypted")
    }
    let info = (content.members ?? [:]).filter { $0.key != "type" && $0.key != "clientId" }
    users[session.user]?.info = info
  }

  /// Signs the user off from this device and removes the device's push subscription.
  private mutating func signOff(_ session: EdnaSession, _ frame: SocketFrame) {
    let push = devices[session.deviceAddress]?.pushAddress
    devices[session.deviceAddress]?.pushAddress = nil
    sessions[frame.socket]?.step = .registered
    offline.append(
      .of([
        "clientId": .string(session.user), "deviceAddress": .string(session.deviceAddress),
        "pnsPushAddress": .optional(push), "socket": .number(Double(frame.socket)),
        "time": .number(frame.now.timeIntervalSince1970),
      ]))
    if offline.count > SandboxLimits.users { offline.removeFirst() }
  }
}
