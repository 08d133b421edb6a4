import JSONRPC

/// A Bayeux 1.0 client for a WebSocket with one subscription, as a state machine without I/O. It
/// performs the handshake, the subscription, and the loop of `/meta/connect` as the server advises.
///
/// A client serves one socket. The times that the server advises, the handshakes in a row, and the rate of
/// `/meta/connect` (one a second) are limited. Unknown messages are ignored.
struct Bayeux: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  private let channel: String
  private let ext: JSONObject
  /// The time limit in seconds for answers that the server does not hold back.
  private let timeout: Double

  /// The client id of an earlier connection, for which the server may have kept events.
  private let former: String?
  /// Whether the server has not yet confirmed that it still knows the former client.
  private(set) var isResuming = false

  private var phase = Phase.idle
  private var connect = Connect.idle
  private var subscribeDeadline: Double?
  private var isSubscribed = false
  /// Whether a `/meta/connect` has succeeded since the handshake.
  private var hasConnected = false
  private var isSettled = false
  private var ids: UInt64 = 0
  private var handshakeID = ""
  private var subscribeID = ""
  private var connectID = ""
  /// The number of handshakes since the last successful `/meta/connect` with a subscription.
  private var handshakes = 0
  /// The latest advice of the server.
  private(set) var advice = BayeuxAdvice()

  /// The maximum number of handshakes in a row without a working connection.
  static let maximumHandshakes = 3
  /// The minimum seconds between two `/meta/connect`, and before a failed request is repeated.
  static let minimumInterval = 1.0
  /// The seconds that the answer to `/meta/connect` may take beyond the advised timeout.
  private static let grace = 15.0

  /// Creates a client that subscribes to `channel` with this `ext`, which holds the credentials.
  ///
  /// - Parameter former: the client id of a connection that broke. A server that still knows it delivers the events
  ///   that it has kept; any other server gets a new handshake.
  init(channel: String, ext: JSONObject, timeout: Double = 30, resuming former: String? = nil) {
    self.former = former
    self.channel = channel
    self.ext = ext
    self.timeout = timeout.isFinite ? min(max(timeout, 1), 300) : 30
  }

  /// A description without the credentials.
  var description: String { "Bayeux(\(channel))" }
  var debugDescription: String { description }

  /// Whether the client has ended: it sends no more messages and emits no more news.
  var isOver: Bool { phase == .over }

  /// The client id to resume with after the connection has broken; `nil` when a new handshake is needed.
  private(set) var resumable: String?

  /// Handles an input at a time in seconds on a monotonic clock.
  mutating func take(_ input: Input, at now: Double) -> Step {
    var step = Step()
    switch input {
    case .opened:
      guard phase == .idle else { break }
      if let former { resume(former, &step, now) } else { handshake(&step, now) }
    case .text(let text): receive(text, &step, now)
    case .timer: timer(&step, now)
    case .closing: leave(&step)
    }
    step.wake = wake
    return step
  }

  private var wake: Double? {
    switch phase {
    case .idle, .over: return nil
    case .handshaking(let deadline): return deadline
    case .pausing(let until): return until
    case .connected:
      var wake = subscribeDeadline
      switch connect {
      case .idle: break
      case .waiting(_, let time), .pausing(let time): wake = min(wake ?? time, time)
      }
      return wake
    }
  }

  private mutating func timer(_ step: inout Step, _ now: Double) {
    switch phase {
    case .idle, .over: break
    case .handshaking(let deadline): if now >= deadline { fail("no answer to the handshake", &step) }
    case .pausing(let until): if now >= until { handshake(&step, now) }
    case .connected(let clientID):
      if let subscribeDeadline, now >= subscribeDeadline { return fail("no answer to the subscription", &step) }
      switch connect {
      case .idle: break
      case .waiting(_, let deadline): if now >= deadline { fail("no answer to the connect request", &step) }
      case .pausing(let until): if now >= until { sendConnect(clientID, &step, now) }
      }
    }
  }

  // MARK: Requests

  private mutating func send(_ channel: String, _ members: JSONObject, _ step: inout Step) -> String {
    ids &+= 1
    let id = String(ids)
    var message: JSONObject = ["channel": .string(channel), "id": .string(id)]
    for member in members.members { message[member.key] = member.value }
    step.frames.append(JSONWriter.text(of: [.object(message)]))
    return id
  }

  private mutating func handshake(_ step: inout Step, _ now: Double) {
    guard handshakes < Self.maximumHandshakes else { return fail("handshakes come to nothing", &step) }
    handshakes += 1
    advice.forgetReconnect()
    forgetClient()
    phase = .handshaking(deadline: now + timeout)
    handshakeID = send("/meta/handshake", ["version": "1.0", "supportedConnectionTypes": ["websocket"]], &step)
  }

  private mutating func forgetClient() {
    connect = .idle
    subscribeDeadline = nil
    isSubscribed = false
    hasConnected = false
    isSettled = false
    isResuming = false
    resumable = nil
  }

  /// Resumes the client of an earlier connection. The subscription is repeated, because it carries the credentials and
  /// the server may have forgotten it.
  private mutating func resume(_ clientID: String, _ step: inout Step, _ now: Double) {
    isResuming = true
    resumable = clientID
    join(as: clientID, &step, now)
  }

  private mutating func join(as clientID: String, _ step: inout Step, _ now: Double) {
    phase = .connected(clientID: clientID)
    var subscription: JSONObject = ["clientId": .string(clientID), "subscription": .string(channel)]
    if !ext.isEmpty { subscription["ext"] = .object(ext) }
    subscribeID = send("/meta/subscribe", subscription, &step)
    subscribeDeadline = now + timeout
    sendConnect(clientID, &step, now)
  }

  /// Sends `/meta/connect`. The first one requests an answer at once, which shows that the connection works. The server
  /// may hold later ones.
  private mutating func sendConnect(_ clientID: String, _ step: inout Step, _ now: Double) {
    connect = .waiting(since: now, deadline: now + advice.timeout + Self.grace)
    var members: JSONObject = ["clientId": .string(clientID), "connectionType": "websocket"]
    if !hasConnected { members["advice"] = ["timeout": 0] }
    connectID = send("/meta/connect", members, &step)
  }

  private mutating func settle(_ step: inout Step) {
    guard isSubscribed, hasConnected, !isSettled, case .connected(let clientID) = phase else { return }
    isSettled = true
    isResuming = false
    resumable = clientID
    step.news.append(.settled)
  }

  private mutating func leave(_ step: inout Step) {
    if case .connected(let clientID) = phase {
      _ = send("/meta/disconnect", ["clientId": .string(clientID)], &step)
    }
    resumable = nil
    phase = .over
  }

  // MARK: Answers

  private mutating func receive(_ text: String, _ step: inout Step, _ now: Double) {
    guard phase != .idle, phase != .over else { return }
    guard let json = try? JSONParser.parse(text, .server) else {
      return fail("the server sent something that is not JSON", &step)
    }
    for message in json.arrayValue ?? [json] {
      guard phase != .over else { return }
      switch message["channel"]?.stringValue {
      case "/meta/handshake": handshakeAnswered(message, &step, now)
      case "/meta/connect": connectAnswered(message, &step, now)
      case "/meta/subscribe": subscriptionAnswered(message, &step, now)
      case channel?:
        // The server delivers to the former client id until the next one subscribes, also while a handshake is due.
        if let data = message["data"] { step.news.append(.event(data)) }
      default: break
      }
    }
  }

  /// Whether a message answers the request with this id. Servers may leave the id out.
  private static func answers(_ message: JSON, _ id: String) -> Bool {
    guard let theirs = message["id"], !theirs.isNull else { return true }
    return theirs.stringValue == id || theirs.intValue.map(String.init) == id
  }

  private mutating func handshakeAnswered(_ message: JSON, _ step: inout Step, _ now: Double) {
    guard case .handshaking = phase, Self.answers(message, handshakeID) else { return }
    advice.update(message["advice"])
    guard message["successful"]?.boolValue == true else {
      let error = BayeuxError(message)
      guard message["advice"] != nil, advice.reconnect != .none, handshakes < Self.maximumHandshakes else {
        return fail("the server refused the handshake: \(error.words)", &step)
      }
      phase = .pausing(until: now + max(advice.interval, Self.minimumInterval))
      return
    }
    if let types = message["supportedConnectionTypes"]?.arrayValue, !types.contains("websocket") {
      return fail("the server does not serve WebSockets", &step)
    }
    guard let clientID = message["clientId"]?.stringValue, (1...256).contains(clientID.utf8.count) else {
      return fail("the server gave no client id", &step)
    }
    join(as: clientID, &step, now)
  }

  private mutating func subscriptionAnswered(_ message: JSON, _ step: inout Step, _ now: Double) {
    guard case .connected = phase, subscribeDeadline != nil, Self.answers(message, subscribeID),
      Self.isAbout(message["subscription"], channel)
    else { return }
    subscribeDeadline = nil
    advice.update(message["advice"])
    if message["successful"]?.boolValue == true {
      guard !isSubscribed else { return }
      isSubscribed = true
      step.news.append(.subscribed)
      settle(&step)
    } else if isResuming {
      // The server has forgotten the former client, and has not checked the credentials.
      handshake(&step, now)
    } else if message["advice"]?["reconnect"]?.stringValue == "handshake", handshakes < Self.maximumHandshakes {
      // The credentials were not refused: the server has lost the client.
      repeatHandshake(now)
    } else {
      let error = BayeuxError(message)
      step.news.append(.refused(code: error.code, description: error.description))
      leave(&step)
    }
  }

  private static func isAbout(_ subscription: JSON?, _ channel: String) -> Bool {
    switch subscription {
    case nil, .null?: true
    case .array(let channels)?: channels.contains(.string(channel))
    case let other?: other.stringValue == channel
    }
  }

  private mutating func connectAnswered(_ message: JSON, _ step: inout Step, _ now: Double) {
    guard case .connected = phase else { return }
    // Servers may send advice without a request.
    guard case .waiting(let since, _) = connect, Self.answers(message, connectID) else { return }
    advice.update(message["advice"])
    let isGood = message["successful"]?.boolValue == true
    if !isGood, isResuming, advice.reconnect != .none { return handshake(&step, now) }
    if !isGood, message["advice"]?["reconnect"] == nil, BayeuxError(message).isUnknownClient {
      return repeatHandshake(now)
    }
    if isGood {
      hasConnected = true
      if isSubscribed { handshakes = 0 }
      settle(&step)
    }
    switch advice.reconnect {
    case .none: fail("the server ends the connection: \(BayeuxError(message).words)", &step)
    case .handshake: repeatHandshake(now)
    case .retry:
      // Immediate answers must not cause requests without a pause.
      let earliest = isGood ? since + Self.minimumInterval : now + Self.minimumInterval
      connect = .pausing(until: max(now + advice.interval, earliest))
      timer(&step, now)
    }
  }

  private mutating func repeatHandshake(_ now: Double) {
    forgetClient()
    phase = .pausing(until: now + max(advice.interval, Self.minimumInterval))
  }

  private mutating func fail(_ words: String, _ step: inout Step) {
    step.news.append(.failed(words.clipped(toUTF8: 600)))
    step.news.append(.reconnectAdvice(advice.reconnect, after: advice.interval))
    if isResuming || advice.reconnect != .retry { resumable = nil }
    phase = .over
  }
}
