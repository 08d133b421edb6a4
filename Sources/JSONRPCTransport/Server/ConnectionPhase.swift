/// The phase of a connection: whether the peer may send, and whether its messages are handled or dropped.
enum ConnectionPhase {
  /// The peer may send messages.
  case open
  /// We have ended the input. Whole messages that the kernel had received by then still count.
  case cut
  /// The peer sends no more. Its messages are still handled and answered.
  case inputEnded
  /// A message was refused. Up to `room` further bytes are dropped until the error is sent.
  case refusing(room: Int)
  /// The channel is being closed. The peer may send up to `room` further bytes, which are dropped.
  case closing(room: Int)
  /// The peer has disconnected. Messages that it sent before are still handled, as far as the user's message rate
  /// allows.
  case gone

  /// Whether the peer may complete a message that it has begun.
  var takesInput: Bool {
    switch self {
    case .open, .cut: true
    case .inputEnded, .refusing, .closing, .gone: false
    }
  }

  /// Whether messages are handled.
  var handlesMessages: Bool {
    switch self {
    case .open, .cut, .inputEnded, .gone: true
    case .refusing, .closing: false
    }
  }

  /// Whether the peer has disconnected.
  var isGone: Bool { if case .gone = self { true } else { false } }

  /// Subtracts dropped bytes from the phase's `room`. Returns false if they exceed it, and `nil` in a phase that drops
  /// no bytes.
  mutating func drop(_ count: Int) -> Bool? {
    switch self {
    case .refusing(let room):
      self = .refusing(room: room - count)
      return count <= room
    case .closing(let room):
      self = .closing(room: room - count)
      return count <= room
    case .open, .cut, .inputEnded, .gone: return nil
    }
  }
}
