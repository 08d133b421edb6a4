/// How much the sandbox takes in before it refuses, so that a runaway test can't exhaust the machine.
enum SandboxLimits {
  /// Bytes of a request's body; more is answered 413.
  static let body = 1 << 20
  /// Bytes of a refused body that are still read, so that the client gets to see the 413.
  static let drain = 16 << 20
  /// Requests that a namespace's log keeps; older ones go first.
  static let log = 10_000
  /// Bytes of bodies that a namespace's log keeps; older requests go first.
  static let logBytes = 64 << 20
  /// Copies of the sandbox's state made by `/ns/{name}`.
  static let namespaces = 1_000
  /// Scripts that wait in a namespace.
  static let scripts = 1_000
  /// Requests that hang or are delayed in a namespace; one more is dropped.
  static let waiting = 1_000
  /// The longest delay and the longest wait, in milliseconds.
  static let delay = 600_000
  /// WebSockets that are open in a namespace; one more is refused with 503.
  static let sockets = 1_000
  /// Frames that wait to be sent on one WebSocket; with one more it is cut.
  static let socketBacklog = 1_000
  /// Bytes of a text message that a WebSocket takes; more closes it with 1009.
  static let message = 1 << 20
  /// Users, and clients, of a backend in a namespace.
  static let users = 10_000
  /// Tokens of a backend in a namespace; older ones make way.
  static let tokens = 20_000
  /// Entries of a backend's own record of what happened; older ones go first.
  static let record = 1_000
  /// Tokens remembered for each user so that `/_revoke` knows them again.
  static let tokensPerUser = 100
}
