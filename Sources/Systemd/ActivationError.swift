/// Why the sockets that the service manager passed can't be used.
public enum ActivationError: Error, Hashable, CustomStringConvertible {
  /// `LISTEN_FDS` and its companions make no sense.
  case unreadable(SystemCallError)
  /// More sockets than the daemon serves: clients of the others would wait for ever.
  case tooMany(count: Int)

  /// What is wrong and what to change in the socket unit.
  public var description: String {
    switch self {
    case .unreadable(let error):
      "the sockets passed by the service manager can't be read (\(error))"
    case .tooMany(let count):
      "the service manager passed \(count) sockets, and one is served: a drop-in that moves the socket needs an empty "
        + "ListenStream= before its own"
    }
  }
}
