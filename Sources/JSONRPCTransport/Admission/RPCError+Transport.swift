public import JSONRPC

extension RPCError {
  /// -32050: the connection has as many requests in progress and waiting as it may have. Not run.
  public static let tooManyInFlight = RPCError(
    code: -32050, reason: "tooManyInFlight", retryable: true,
    message: "This connection has too many requests in progress. Wait for answers before you send more.")

  /// -32050: the user has as many requests in progress and waiting, on all its connections, as it may have. Not run.
  static let tooManyInFlightOfUser = RPCError(
    code: -32050, reason: "tooManyInFlight", retryable: true,
    message: "This user has too many requests in progress on its connections. Wait for answers before you send more.")

  /// -32050: more is asked for than the user's allowance has. Not run.
  ///
  /// - Parameter wait: nanoseconds until it makes sense to try again.
  static func rateLimit(_ message: String, after wait: UInt64) -> RPCError {
    let milliseconds = wait / 1_000_000 + (wait % 1_000_000 == 0 ? 0 : 1)
    return RPCError(
      code: -32050, reason: "rateLimit", retryable: true, message: message,
      data: ["retryAfter": JSON(Double(milliseconds) / 1000)])
  }

  /// -32050: a long message came while a lot is kept for the user already.
  static let tooManyBytesOfUser = rateLimit(
    "Too many bytes are kept for this user's connections: read answers, end messages, or send shorter ones.",
    after: 1_000_000_000)

  /// -32050: the answers to earlier members of the batch, or to earlier requests, are kept already. Not run.
  static let tooManyAnswers = rateLimit(
    "Too many bytes of answers are kept. Read them, and send this request again in a smaller batch.",
    after: 1_000_000_000)

  /// -32050: the daemon stops. Not run.
  public static let shuttingDown = RPCError(
    code: -32050, reason: "shuttingDown", retryable: true,
    message: "The daemon is stopping and has not run this request. Connect again and repeat it.")

  /// -32600: a request with this id waits for its answer already.
  static let idInProgress = invalidRequest(
    "A request with this id is still in progress. Give each request an id of its own.", member: "id")
}
