import Concurrency
import JSONRPC
import SDKInstances
import SDKProtocol

/// A WebSocket to Chat Center: requests get their acknowledgements by correlation id, all else is heard or passed over.
///
/// Until it runs, who asks reads; when it runs, that reads for all.
actor EdnaConnection: RealtimeConnection {
  private let socket: any VendorSocket
  private let timeout: Double
  private var waiting: [String: Promise<JSONObject>] = [:]
  private var end: RealtimeEnd?
  private var isRunning = false
  private var isReading = false
  private var turns: [CheckedContinuation<Void, Never>] = []
  private var asked: UInt64 = 0
  /// What the vendor said on the way that the identity has yet to learn.
  private var learned: (state: [String: Secret], credential: Credential?)?

  /// A connection whose requests have so many seconds each.
  init(_ socket: any VendorSocket, timeout: Double) {
    self.socket = socket
    self.timeout = timeout
  }

  /// The identity is told this once it runs.
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

  /// Asks and waits so many seconds for the acknowledgement.
  func perform(_ request: JSONObject, within seconds: Double) async throws(SDKError) -> JSONObject {
    if !isRunning { await beginReading() }
    let reads = !isRunning
    defer { if reads { endReading() } }
    if let error = end?.error { throw error }
    asked &+= 1
    let id = "sdkd-\(asked)"
    var frame = request
    frame["correlationId"] = .string(id)
    let text = JSONWriter.text(of: .object(frame))
    let outcome = Promise<JSONObject>()
    waiting[id] = outcome
    defer { waiting[id] = nil }
    return try await EdnaFailure.within(seconds) {
      do {
        try await self.socket.send(text)
        if reads { while outcome.result == nil { try await self.read() } }
        return try await outcome.value()
      } catch let failure as HTTPFailure {
        throw EdnaFailure.error(failure)
      }
    }
  }

  func close() async {
    finish(.ended)
    await socket.close()
  }

  /// Performs the steps that make the connection usable, and closes it when one fails.
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

  /// Reads one message.
  private func read() async throws(HTTPFailure) {
    guard let text = try await socket.next() else {
      finish(.lost(EdnaFailure.closed))
      throw .network("the server closed the connection")
    }
    guard let json = try? JSONParser.parse(Array(text.utf8)), let data = json["data"]?.objectValue else { return }
    let refusal = EdnaFailure.refusal(in: data)
    if let id = json["correlationId"]?.stringValue, let outcome = waiting.removeValue(forKey: id) {
      outcome.resolve(refusal.map { .failure($0) } ?? .success(data))
    }
    if let refusal, refusal.reason == .invalidAuth { finish(.refused(refusal)) }
  }

  /// The first end counts; whoever waits hears of it.
  private func finish(_ end: RealtimeEnd) {
    if self.end == nil { self.end = end }
    let error = end.error ?? EdnaFailure.closed
    for outcome in waiting.values { outcome.resolve(.failure(error)) }
    waiting = [:]
  }
}

extension RealtimeEnd {
  /// Why nothing can be asked any more.
  fileprivate var error: SDKError? {
    switch self {
    case .refused(let error), .lost(let error): error
    case .ended: EdnaFailure.closed
    }
  }
}
