import Foundation
import JSONRPC

/// The WebSocket: `registerDevice`, then `INIT_CHAT`, then `CLIENT_INFO`, each acknowledged.
extension EdnaBackend {
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse? {
    do throws(EdnaRefusal) {
      guard call.path == ["ws"] else { throw .notFound("no such route") }
      try Self.checkProvider(call.query["providerUid"] ?? call.headers["x-provider-uid"])
      sessions[socket] = EdnaSession(credentials: try EdnaCredentials(call))
      return nil
    } catch {
      return error.response
    }
  }

  mutating func closed(_ socket: Int) {
    sessions.removeValue(forKey: socket)
  }

  mutating func receive(_ frame: SocketFrame) -> String? {
    guard let message = frame.tree, message.members != nil, let session = sessions[frame.socket] else {
      let reply = EdnaRefusal.badRequest("no JSON object")
      outbox.append(.send(["data": reply.tree], to: frame.socket))
      return reply.note
    }
    do throws(EdnaRefusal) {
      let data = message.given("data") ?? [:]
      let answer: JSON
      switch message["action"]?.stringValue {
      case "registerDevice": answer = try register(data, session, frame)
      case "updateDevice": answer = try update(data, session, frame)
      case "sendMessage": answer = try take(data, session, frame)
      default: throw .badRequest("unknown action")
      }
      outbox.append(.send(completed(["data": answer], answering: message), to: frame.socket))
      return nil
    } catch {
      outbox.append(.send(completed(["data": error.tree], answering: message), to: frame.socket))
      return error.note
    }
  }

  func sockets(of user: String) -> [Int] {
    sessions.filter { $0.value.step != .opened && ($0.value.user == user || $0.value.clientID == user) }.map(\.key)
  }

  /// Returns the action and the content type of a message, such as `sendMessage` and `INIT_CHAT`.
  func names(of message: JSON) -> [String] {
    [message["action"], message["data"]?["content"]?["type"]].compactMap { $0?.stringValue }
  }

  /// Returns the reply with the action and the correlation id of its message added.
  func completed(_ reply: JSON, answering message: JSON) -> JSON {
    guard let members = reply.members else { return reply }
    let asked = JSON.of(["action": message.given("action"), "correlationId": message.given("correlationId")])
    return .object((asked.members ?? [:]).merging(members) { _, given in given })
  }

  private mutating func register(
    _ data: JSON, _ session: EdnaSession, _ frame: SocketFrame
  ) throws(EdnaRefusal) -> JSON {
    try Self.checkProvider(data["providerUid"]?.stringValue)
    guard let sent = data["clientId"]?.stringValue, !sent.isEmpty else { throw .badRequest("clientId is missing") }
    let identifier = EdnaIdentifier(sent)
    try tokens.check(session.credentials.token, of: identifier.plain, at: frame.now)
    try note(identifier, session.credentials)
    var device = try device(data, of: identifier.plain)
    if let push = data["pnsPushAddress"]?.stringValue { device.pushAddress = push.isEmpty ? nil : push }
    devices[device.address] = device
    var session = session
    session.clientID = sent
    session.user = identifier.plain
    session.deviceAddress = device.address
    session.step = .registered
    sessions[frame.socket] = session
    return ["deviceAddress": .string(device.address)]
  }

  /// Returns the registering device: found by its address, else by its `deviceUid`, else new.
  private func device(_ data: JSON, of user: String) throws(EdnaRefusal) -> EdnaDevice {
    if let known = data["deviceAddress"]?.stringValue.flatMap({ devices[$0] }), known.clientID == user { return known }
    let uid = data["deviceUid"]?.stringValue
    if uid != nil, let known = devices.values.first(where: { $0.deviceUID == uid && $0.clientID == user }) {
      return known
    }
    guard devices.count < SandboxLimits.users else { throw .full("devices") }
    return EdnaDevice(address: "sandbox_\(UUID().uuidString.lowercased())", clientID: user, deviceUID: uid)
  }

  private mutating func update(
    _ data: JSON, _ session: EdnaSession, _ frame: SocketFrame
  ) throws(EdnaRefusal) -> JSON {
    try check(session, at: frame.now)
    guard let push = data["pnsPushAddress"]?.stringValue else { throw .badRequest("pnsPushAddress is missing") }
    devices[session.deviceAddress]?.pushAddress = push.isEmpty ? nil : push
    return ["deviceAddress": .string(session.deviceAddress)]
  }

  /// Throws unless the socket has registered and its token is still valid.
  func check(_ session: EdnaSession, at now: Date) throws(EdnaRefusal) {
    if session.step == .opened { throw .badRequest("not registered") }
    try tokens.check(session.credentials.token, of: session.user, at: now)
  }
}
