import JSONRPC

extension Bayeux {
  /// What happens to the client.
  enum Input: Sendable {
    /// The socket is open.
    case opened
    /// The server sent a message.
    case text(String)
    /// The time that `Step.wake` named has come.
    case timer
    /// We want to leave.
    case closing
  }

  /// What its owner learns.
  enum News: Sendable, Hashable {
    /// The server delivers the channel's events from now on; again after each new handshake.
    case subscribed
    /// The server has answered a `/meta/connect` as well: the connection is a good one. Once for each handshake.
    case settled
    /// The server refuses the subscription. The client is over.
    case refused(code: String?, description: String)
    /// The data of an event on the channel.
    case event(JSON)
    /// The connection is of no use any more, for this reason. The client is over; close the socket.
    case failed(String)
    /// How to come back after a failure: whether at all, and after how many seconds at least.
    case reconnectAdvice(BayeuxAdvice.Reconnect, after: Double)
  }

  /// What is to be done.
  struct Step: Sendable, Hashable {
    /// Messages to send, in order. They hold credentials.
    var frames: [String] = []
    /// What has happened, in order.
    var news: [News] = []
    /// When the input `timer` is due, on the clock of `now`; `nil` for never.
    var wake: Double?
  }

  /// What the client waits for.
  enum Phase: Sendable, Hashable {
    case idle
    case handshaking(deadline: Double)
    /// A handshake that failed waits to be repeated.
    case pausing(until: Double)
    case connected(clientID: String)
    case over
  }

  /// The loop of `/meta/connect`.
  enum Connect: Sendable, Hashable {
    case idle
    case waiting(since: Double, deadline: Double)
    case pausing(until: Double)
  }
}
