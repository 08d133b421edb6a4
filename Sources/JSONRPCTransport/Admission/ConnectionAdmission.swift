public import JSONRPC

/// The decision about a new connection.
public enum ConnectionAdmission: Sendable {
  /// The connection is served and counts against this allowance; `nil` if its user has no limits.
  case admitted(Allowance?)
  /// The connection gets this error, with `id: null`, and is closed.
  case refused(RPCError)
}
