internal import JSONRPC

/// The requests of a connection that another process will run, because this one did not.
struct KeptRequests {
  /// A request that was not run to its end.
  struct Request {
    /// The number of the request's ticket; the largest one if the request was not accepted.
    let number: UInt64
    let request: RPCRequest
    /// The call that ended without having run the request; `nil` if the request was not accepted.
    let call: (any AcceptedCall)?
    let destination: AnswerDestination
    /// The error to answer if no other process runs the request.
    let refusal: RPCError

    /// Whether the program knows the request.
    var wasAccepted: Bool { call != nil }
  }

  private var requests: [Request] = []
  /// Called once, when nothing is in progress; with `nil` if the connection ended before.
  private var waiter: ((_ handler: (any ConnectionHandler)?) -> Void)?

  /// Adds a request or notification.
  mutating func add(_ request: Request) { requests.append(request) }

  /// Removes and returns the requests that satisfy a condition, in order of arrival.
  mutating func remove(where condition: (Request) -> Bool) -> [Request] {
    let removed = inOrder.filter(condition)
    if !removed.isEmpty { requests.removeAll(where: condition) }
    return removed
  }

  private var inOrder: [Request] {
    // Stable, because those that were not accepted have the same number.
    requests.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(\.element)
  }

  /// Returns the requests in order of arrival, and the responses that their batches have already.
  func handOver<Call>(
    _ batches: BatchAnswers<Call>
  ) -> (requests: [ConnectionHandOver.Request], batches: [[[UInt8]]]) {
    var indices: [Int: Int] = [:]
    var responses: [[[UInt8]]] = []
    var handed: [ConnectionHandOver.Request] = []
    for kept in inOrder {
      var request = ConnectionHandOver.Request(text: kept.request.text(isNotification: kept.destination == .discarded))
      if case .batch(let number) = kept.destination {
        let index = indices[number] ?? responses.count
        if index == responses.count { responses.append(batches[number]?.texts ?? []) }
        indices[number] = index
        request.batch = index
        request.isChecked = kept.wasAccepted
      }
      handed.append(request)
    }
    return (handed, responses)
  }

  /// Calls `body` with the program's handler when nothing is in progress.
  mutating func whenSettled(_ body: @escaping (_ handler: (any ConnectionHandler)?) -> Void) { waiter = body }

  /// Calls the function that waits, once.
  mutating func settled(_ handler: (any ConnectionHandler)?) {
    let body = waiter
    waiter = nil
    body?(handler)
  }
}

extension RPCRequest {
  /// Returns the text of the message.
  fileprivate func text(isNotification: Bool) -> [UInt8] {
    var message: JSONObject = ["jsonrpc": "2.0"]
    if !isNotification { message["id"] = id.json }
    message["method"] = .string(method)
    message["params"] = params
    return JSONWriter.bytes(of: .object(message))
  }
}
