public import JSONRPC

extension RPCError {
  /// The error -32050: the connection has reached its limit of running and waiting requests. The request was not run.
  public static let tooManyInFlight = RPCError(
    code: -32050, reason: "tooManyInFlight", retryable: true,
    message: "This connection has too many requests in progress. Wait for answers before you send more.")

  /// The error -32050: the user has reached the limit of running and waiting requests on all connections. The request
  /// was not run.
  static let tooManyInFlightOfUser = RPCError(
    code: -32050, reason: "tooManyInFlight", retryable: true,
    message: "This user has too many requests in progress on its connections. Wait for answers before you send more.")

  /// Returns -32050: the request exceeds the user's rate or a buffer quota, and was not run.
  ///
  /// - Parameter wait: the nanoseconds until a retry makes sense.
  static func rateLimit(_ message: String, after wait: UInt64) -> RPCError {
    let milliseconds = wait / 1_000_000 + (wait % 1_000_000 == 0 ? 0 : 1)
    return RPCError(
      code: -32050, reason: "rateLimit", retryable: true, message: message,
      data: ["retryAfter": JSON(Double(milliseconds) / 1000)])
  }

  /// The error -32050: a long message began while the buffers of the user, of all strangers or of all users were over
  /// their quota.
  static let tooManyBytesOfUser = rateLimit(
    "Too many bytes are kept for connections: read answers, end messages, or send shorter ones.",
    after: 1_000_000_000)

  /// The error -32600: a message has begun, and was not complete within the time limit of a frame.
  static let unfinishedFrame = invalidRequest(
    "A message was not complete in time. Send as many bytes as its Content-Length says.")

  /// The error -32050: responses to earlier members of the batch, or to earlier requests, fill the buffer. The request
  /// was not run.
  static let tooManyAnswers = rateLimit(
    "Too many bytes of answers are kept. Read them, and send this request again in a smaller batch.",
    after: 1_000_000_000)

  /// The error -32050: the daemon is stopping. The request was not run.
  public static let shuttingDown = RPCError(
    code: -32050, reason: "shuttingDown", retryable: true,
    message: "The daemon is stopping and has not run this request. Connect again and repeat it.")

  /// The error -32600: a request with this id is still in progress.
  static let idInProgress = invalidRequest(
    "A request with this id is still in progress. Give each request an id of its own.", member: "id")
}
