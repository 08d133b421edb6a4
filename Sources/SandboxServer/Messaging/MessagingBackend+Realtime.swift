import Foundation
import JSONRPC

/// The realtime socket: Bayeux over WebSocket.
extension MessagingBackend {
  mutating func open(_ socket: Int, _ call: BackendCall) -> SandboxResponse? {
    call.path == ["faye"] ? nil : MessagingRefusal.notFound("route").response
  }

  mutating func closed(_ socket: Int) {
    for (id, client) in bayeux where client.socket == socket {
      bayeux.removeValue(forKey: id)
      if lostClients.count >= BayeuxClient.lost.clients { lostClients.removeFirst() }
      lostClients.append(LostBayeuxClient(id: id, client: client))
    }
  }

  /// Returns the client of this id if it belongs to this socket, or has lost its own socket and returns on this one.
  private mutating func client(_ id: String, on socket: Int) -> BayeuxClient? {
    if let client = bayeux[id] { return client.socket == socket ? client : nil }
    guard let index = lostClients.firstIndex(where: { $0.id == id }) else { return nil }
    var lost = lostClients.remove(at: index)
    lost.client.socket = socket
    lost.client.heldUntil = .distantPast
    bayeux[id] = lost.client
    if !lost.messages.isEmpty { outbox.append(.send(.array(lost.messages), to: socket)) }
    return lost.client
  }

  mutating func receive(_ frame: SocketFrame) -> String? {
    var replies: [JSON] = []
    var notes: [String] = []
    for message in frame.messages {
      do throws(BayeuxRefusal) {
        guard let reply = try answer(message, frame) else { continue }
        replies.append(reply)
      } catch {
        replies.append(BayeuxReply.failed(message, error.text, advice: error.advice))
        notes.append(error.note)
      }
    }
    if frame.messages.isEmpty {
      replies.append(BayeuxReply.failed([:], "400::Neither a message nor an array of messages"))
    }
    if !replies.isEmpty { outbox.append(.send(.array(replies), to: frame.socket)) }
    return notes.isEmpty ? nil : notes.joined(separator: "; ")
  }

  func sockets(of user: String) -> [Int] {
    let id = known[UTF8Key(user)] ?? user
    return bayeux.values.filter { $0.subscriptions.values.contains(id) }.map(\.socket)
  }

  /// Returns a scripted reply with the members of a successful Bayeux reply that it does not set itself.
  func completed(_ reply: JSON, answering message: JSON) -> JSON {
    guard let members = reply.members else { return reply }
    return [.object(BayeuxReply(to: message).members.merging(members) { _, scripted in scripted })]
  }

  /// Sends an event to all clients that have subscribed to the user. Returns the sockets of those that are connected.
  mutating func publish(_ event: JSON, to userID: String) -> [Int] {
    var sockets: Set<Int> = []
    for client in bayeux.values {
      for (channel, user) in client.subscriptions where user == userID {
        let message: JSON = ["channel": .string(channel), "data": ["events": [event]]]
        outbox.append(.send([message], to: client.socket))
        sockets.insert(client.socket)
      }
    }
    for index in lostClients.indices where lostClients[index].messages.count < BayeuxClient.lost.messages {
      for (channel, user) in lostClients[index].client.subscriptions where user == userID {
        lostClients[index].messages.append(["channel": .string(channel), "data": ["events": [event]]])
      }
    }
    return sockets.sorted()
  }

  /// Returns the reply to a message; `nil` if the reply is delayed.
  private mutating func answer(_ message: JSON, _ frame: SocketFrame) throws(BayeuxRefusal) -> JSON? {
    guard let channel = message["channel"]?.stringValue else { throw BayeuxRefusal("400::Missing channel") }
    if channel == "/meta/handshake" { return try shakeHands(message, frame.socket) }
    guard let id = message["clientId"]?.stringValue, let client = client(id, on: frame.socket) else {
      throw BayeuxRefusal(
        "401:\(message["clientId"]?.stringValue ?? ""):Unknown client", advice: BayeuxClient.handshakeAgain)
    }
    switch channel {
    case "/meta/connect": return connect(message, id, client, frame)
    case "/meta/subscribe":
      for channel in try Self.channels(message) {
        let user = try subscriber(message, channel, now: frame.now)
        guard client.subscriptions.count < BayeuxClient.channels else { throw BayeuxRefusal("403::Too many channels") }
        bayeux[id]?.subscriptions[channel] = user
      }
    case "/meta/unsubscribe":
      for channel in try Self.channels(message) { bayeux[id]?.subscriptions.removeValue(forKey: channel) }
    case "/meta/disconnect": bayeux.removeValue(forKey: id)
    default: throw BayeuxRefusal("403:\(channel):Forbidden channel")
    }
    return BayeuxReply(to: message).tree
  }

  private mutating func shakeHands(_ message: JSON, _ socket: Int) throws(BayeuxRefusal) -> JSON {
    guard message["version"]?.stringValue != nil else { throw BayeuxRefusal("402:version:Missing required parameter") }
    guard case .array(let types)? = message["supportedConnectionTypes"], types.contains("websocket") else {
      throw BayeuxRefusal("301::Connection types not supported; only websocket is")
    }
    guard bayeux.count < SandboxLimits.users else { throw BayeuxRefusal("503::The sandbox takes no more clients") }
    let id = Self.newID()
    bayeux[id] = BayeuxClient(socket: socket)
    let more: [String: JSON] = [
      "clientId": .string(id), "version": "1.0", "supportedConnectionTypes": ["websocket"],
      "advice": BayeuxClient.retry,
    ]
    return BayeuxReply(to: message, more).tree
  }

  /// Replies at once to the first `/meta/connect`, to one that requests it by its timeout, and to one that arrives
  /// while another is held. Holds the others and returns `nil`.
  private mutating func connect(
    _ message: JSON, _ id: String, _ client: BayeuxClient, _ frame: SocketFrame
  ) -> JSON? {
    let wished = message["advice"]?["timeout"]?.doubleValue.map { max(0, min($0, Double(BayeuxClient.timeout))) }
    let wait = wished ?? (client.hasConnected ? Double(BayeuxClient.timeout) : 0)
    bayeux[id]?.hasConnected = true
    let reply = BayeuxReply(to: message, ["advice": BayeuxClient.retry]).tree
    guard wait >= 1, frame.now >= client.heldUntil else { return reply }
    bayeux[id]?.heldUntil = frame.now.addingTimeInterval(wait / 1000)
    outbox.append(.send([reply], to: client.socket, afterMilliseconds: Int(wait)))
    return nil
  }

  /// Returns the user of `/sdk/apps/A/appusers/U`. Throws unless the credentials in `ext` would permit access in HTTP.
  private mutating func subscriber(
    _ message: JSON, _ channel: String, now: Date
  ) throws(BayeuxRefusal) -> String {
    let parts = channel.split(separator: "/").map(String.init)
    guard parts.count == 5, parts[0] == "sdk", parts[1] == "apps", parts[3].lowercased() == "appusers",
      parts[2] == DemoAccounts.appID
    else { throw BayeuxRefusal("403:\(channel):Forbidden channel") }
    let ext = message.given("ext") ?? [:]
    guard ext["appId"]?.stringValue == parts[2], ext["appUserId"]?.stringValue == parts[4] else {
      throw BayeuxRefusal("403::Forbidden", note: "appId or appUserId in ext are not the channel's")
    }
    var credential: String?
    if let jwt = ext["jwt"]?.stringValue {
      credential = "Bearer \(jwt)"
    } else if let session = ext["sessionToken"]?.stringValue {
      credential = "Basic \(Data("\(parts[4]):\(session)".utf8).base64EncodedString())"
    }
    do throws(MessagingRefusal) {
      return try authorized(
        BackendCall(method: "WS", path: [], authorization: credential, now: now, baseURL: ""), for: parts[4]
      ).id
    } catch {
      throw BayeuxRefusal("403::\(error.description)", note: error.note)
    }
  }

  /// Returns the channels of `subscription`, which is one channel or an array.
  private static func channels(_ message: JSON) throws(BayeuxRefusal) -> [String] {
    let wanted: [JSON] =
      if case .array(let several)? = message["subscription"] { several } else { [message["subscription"] ?? .null] }
    let channels = wanted.compactMap(\.stringValue)
    guard !channels.isEmpty, channels.count == wanted.count, channels.count <= BayeuxClient.channels else {
      throw BayeuxRefusal("402:subscription:Missing required parameter")
    }
    return channels
  }
}
