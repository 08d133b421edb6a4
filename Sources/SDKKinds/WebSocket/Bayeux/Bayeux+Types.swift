import JSONRPC

extension Bayeux {
  /// The inputs of the client.
  enum Input: Sendable {
    /// The socket has opened.
    case opened
    /// The server sent a message.
    case text(String)
    /// The time in `Step.wake` has come.
    case timer
    /// The owner closes the connection.
    case closing
  }

  /// An event that the client reports to its owner.
  enum News: Sendable, Hashable {
    /// The server accepted the subscription and delivers the channel's events from now on. Repeated after each new
    /// handshake.
    case subscribed
    /// The server has accepted a `/meta/connect` as well, so the connection works. Emitted once for each handshake.
    case settled
    /// The server refused the subscription. The client has ended.
    case refused(code: String?, description: String)
    /// The data of an event on the channel.
    case event(JSON)
    /// The connection failed for this reason. The client has ended; close the socket.
    case failed(String)
    /// The advice on reconnecting after a failure, with the minimum wait in seconds.
    case reconnectAdvice(BayeuxAdvice.Reconnect, after: Double)
  }

  /// The result of an input.
  struct Step: Sendable, Hashable {
    /// Messages to send, in order. They hold credentials.
    var frames: [String] = []
    /// The events to report to the client's owner, in order.
    var news: [News] = []
    /// The time when the input `timer` is due, on the clock of `now`; `nil` for never.
    var wake: Double?
  }

  /// The phases of the client.
  enum Phase: Sendable, Hashable {
    case idle
    case handshaking(deadline: Double)
    /// A failed handshake is repeated at this time.
    case pausing(until: Double)
    case connected(clientID: String)
    case over
  }

  /// The states of the `/meta/connect` loop.
  enum Connect: Sendable, Hashable {
    case idle
    case waiting(since: Double, deadline: Double)
    case pausing(until: Double)
  }
}
