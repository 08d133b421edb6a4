public import JSONRPC

extension RPCError {
  /// -32050: the connection has as many requests in progress and waiting as it may have. Not run.
  public static let tooManyInFlight = RPCError(
    code: -32050, reason: "tooManyInFlight", retryable: true,
    message: "This connection has too many requests in progress. Wait for answers before you send more.")

  /// -32050: the daemon stops. Not run.
  public static let shuttingDown = RPCError(
    code: -32050, reason: "shuttingDown", retryable: true,
    message: "The daemon is stopping and has not run this request. Connect again and repeat it.")

  /// -32600: a request with this id waits for its answer already.
  static let idInProgress = invalidRequest(
    "A request with this id is still in progress. Give each request an id of its own.", member: "id")
}
