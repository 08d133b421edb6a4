public import JSONRPC

/// What becomes of a new connection.
public enum ConnectionAdmission: Sendable {
  /// It is served. What it asks for counts against the allowance; `nil` for one without limits of its user.
  case admitted(Allowance?)
  /// It gets this error, with `id: null`, and is closed.
  case refused(RPCError)
}
