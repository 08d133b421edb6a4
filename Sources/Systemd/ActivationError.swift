public import Linux

/// An error in the sockets that the service manager passed.
public enum ActivationError: Error, Hashable, CustomStringConvertible {
  /// `LISTEN_FDS` or a related variable is invalid.
  case unreadable(SystemCallError)
  /// More sockets than the daemon serves: clients of the others would wait for ever.
  case tooMany(count: Int)

  /// A description of the error and of the change to make in the socket unit.
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
