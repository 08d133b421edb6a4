import Concurrency
import JSONRPC
import SDKInstances
import SDKProtocol

/// A WebSocket connection to Chat Center. Acknowledgements are matched to requests by correlation id. A message that
/// refuses the credentials ends the connection; other messages are ignored.
///
/// Before `run`, each request reads the socket itself. Afterwards `run` reads for all requests.
actor EdnaConnection: RealtimeConnection {
  private let socket: any VendorSocket
  private let timeout: Double
  private var waiting: [String: Promise<JSONObject>] = [:]
  private var end: RealtimeEnd?
  private var isRunning = false
  private var isReading = false
  /// Whether a logout was sent and has not failed. No other request is sent after it, since it would bring the user
  /// online again.
  private var isLeaving = false
  private var turns: [CheckedContinuation<Void, Never>] = []
  private var asked: UInt64 = 0
  /// The state and credential that were learned while connecting, and that `run` reports to the identity.
  private var learned: (state: [String: Secret], credential: Credential?)?

  /// The secrets with which the connection was opened.
  private let secrets: [Secret]
  /// The secrets of the frames that were sent, by their member: the last of each. `history` has the earlier ones.
  private var sent: [String: Secret] = [:]
  private let history: SentHistory

  /// Creates a connection whose requests time out after `timeout` seconds.
  ///
  /// - Parameters:
  ///   - secrets: the secrets with which it was opened.
  ///   - history: the secrets that the instance has sent.
  init(
    _ socket: any VendorSocket, timeout: Double, secrets: [Secret] = [], history: SentHistory = SentHistory()
  ) {
    self.secrets = secrets
    self.history = history
    self.socket = socket
    self.timeout = timeout
  }

  /// Stores state and a credential that `run` reports to the identity when it starts.
  func learn(_ state: [String: Secret], credential: Credential?) { learned = (state, credential) }

  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    await beginReading()
    isRunning = true
    if end == nil {
      await hear(.connected)
      if let learned { await hear(.learned(learned.state, credential: learned.credential)) }
    }
    while end == nil {
      do throws(HTTPFailure) {
        try await read()
      } catch {
        finish(.lost(EdnaFailure.error(error)))
      }
    }
    return end ?? .ended
  }

  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject {
    try await perform(request, within: timeout)
  }

  /// Sends the logout of the user, as the last request unless it fails.
  func leave(_ request: JSONObject) async throws(SDKError) {
    do throws(SDKError) {
      _ = try await perform(request, within: timeout, isLeaving: true)
    } catch {
      isLeaving = false
      throw error
    }
  }

  /// Sends a request and waits up to `seconds` for the acknowledgement.
  func perform(
    _ request: JSONObject, within seconds: Double, isLeaving: Bool = false
  ) async throws(SDKError) -> JSONObject {
    if !isRunning { await beginReading() }
    let reads = !isRunning
    defer { if reads { endReading() } }
    if let error = end?.error { throw error }
    asked &+= 1
    let id = "sdkd-\(asked)"
    var frame = request
    frame["correlationId"] = .string(id)
    let text = JSONWriter.text(of: .object(frame))
    // What the frame replaces is kept in the history.
    _ = history.sent(secrets + sent.values)
    sent.merge(EdnaFrame.secrets(of: frame)) { $1 }
    let outcome = Promise<JSONObject>()
    waiting[id] = outcome
    defer { waiting[id] = nil }
    return try await EdnaFailure.within(seconds) {
      do {
        try await self.send(text, isLeaving: isLeaving)
        if reads { while outcome.result == nil { try await self.read() } }
        return try await outcome.value()
      } catch let failure as HTTPFailure {
        throw EdnaFailure.error(failure)
      }
    }
  }

  private func send(_ text: String, isLeaving: Bool) async throws {
    if self.isLeaving { throw EdnaFailure.closed }
    self.isLeaving = isLeaving
    try await socket.send(text)
  }

  func close() async {
    finish(.ended)
    await socket.close()
  }

  /// Performs the steps that make the connection usable. Closes the connection when one of them fails.
  nonisolated func closingOnFailure<T: Sendable>(_ work: () async throws(SDKError) -> T) async throws(SDKError) -> T {
    do throws(SDKError) {
      return try await work()
    } catch {
      await close()
      throw error
    }
  }

  private func beginReading() async {
    while isReading, !isRunning { await withCheckedContinuation { turns.append($0) } }
    if !isRunning { isReading = true }
  }

  private func endReading() {
    isReading = false
    let waiting = turns
    turns = []
    for turn in waiting { turn.resume() }
  }

  /// Reads one message and resolves the request that it acknowledges.
  private func read() async throws(HTTPFailure) {
    guard let text = try await socket.next() else {
      finish(.lost(EdnaFailure.closed))
      throw .network("the server closed the connection")
    }
    guard let json = try? JSONParser.parse(text, .server) else { return }
    let data: JSONObject
    switch json["data"] {
    case .object(let given)?: data = given
    // An acknowledgement may come without data.
    case nil, .null?: data = [:]
    default: return
    }
    let refusal = EdnaFailure.refusal(in: data, without: history.sent(secrets + sent.values))
    if let id = json["correlationId"]?.stringValue, let outcome = waiting.removeValue(forKey: id) {
      outcome.resolve(refusal.map { .failure($0) } ?? .success(data))
    }
    if let refusal, refusal.reason == .invalidAuth { finish(.refused(refusal)) }
  }

  /// Ends the connection and fails all waiting requests. Only the first end is kept.
  private func finish(_ end: RealtimeEnd) {
    if self.end == nil { self.end = end }
    let error = end.error ?? EdnaFailure.closed
    for outcome in waiting.values { outcome.resolve(.failure(error)) }
    waiting = [:]
  }
}

extension RealtimeEnd {
  /// The error for requests on a connection that has ended this way.
  fileprivate var error: SDKError? {
    switch self {
    case .refused(let error), .lost(let error): error
    case .ended: EdnaFailure.closed
    }
  }
}
