import Concurrency
import JSONRPC
import SDKInstances
import SDKProtocol

/// The realtime connection of one user. It passes messages between the socket and the Bayeux client, and translates the
/// client's news for the instance.
actor MessagingConnection: RealtimeConnection {
  private let socket: any VendorSocket
  private var client: Bayeux
  private let identity: IdentityRecord
  private let mode: String
  private let clock: WallClock
  private let former: FormerClient?
  private let history: SentHistory
  private let start = ContinuousClock.now

  /// Creates a connection.
  ///
  /// - Parameters:
  ///   - former: the store for the client id when the connection breaks.
  ///   - history: the secrets that the instance has sent.
  init(
    _ socket: any VendorSocket, _ client: Bayeux, identity: IdentityRecord, mode: String, clock: WallClock,
    former: FormerClient? = nil, history: SentHistory = SentHistory()
  ) {
    self.history = history
    self.former = former
    self.socket = socket
    self.client = client
    self.identity = identity
    self.mode = mode
    self.clock = clock
  }

  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    let end = await exchange(hear)
    guard case .lost(var error) = end else { return end }
    if let id = client.resumable { former?.keep(id, for: identity, isKnown: !client.isResuming) }
    // The advised interval also applies when the server closes the socket without another word.
    if error.retryAfter == nil, client.advice.interval > 0 { error.retryAfter = client.advice.interval }
    return .lost(error)
  }

  /// Exchanges messages with the server and passes its news to `hear`, until the connection ends.
  ///
  /// A task waits here in each of thousands of instances. Code with much local data is therefore in functions that
  /// don't suspend, so that a waiting task needs little memory.
  private func exchange(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    var step = client.take(.opened, at: time)
    while true {
      if let end = await send(step.frames) { return end }
      let heard = meaning(of: step.news)
      for news in heard.news { await hear(news) }
      if let end = heard.end { return end }
      do throws(HTTPFailure) {
        guard let text = try await socket.next(within: step.wake.map { $0 - time }) else {
          return Self.closedByVendor()
        }
        step = client.take(.text(text), at: time)
      } catch .timeout {
        step = client.take(.timer, at: time)
      } catch {
        return Self.lost(error)
      }
    }
  }

  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject {
    throw SDKError(.state, .wrongKind, "Nothing is asked on this connection.")
  }

  func close() async {
    let frames = client.take(.closing, at: time).frames
    // The message to the server is a courtesy and must not delay the close for long.
    try? await withTimeout(.seconds(1)) { [socket] in
      for frame in frames { try await socket.send(frame) }
    }
    await socket.close()
  }

  /// The seconds on a monotonic clock.
  private var time: Double { start.duration(to: .now) / .seconds(1) }

  /// Sends messages of the client. Returns the end of the connection if sending fails.
  private func send(_ frames: [String]) async -> RealtimeEnd? {
    for frame in frames {
      do throws(HTTPFailure) {
        try await socket.send(frame)
      } catch {
        return Self.lost(error)
      }
    }
    return nil
  }

  /// Returns the news for the instance, and the end of the connection if it has ended.
  @inline(never)
  private func meaning(of news: [Bayeux.News]) -> (news: [RealtimeNews], end: RealtimeEnd?) {
    var heard: [RealtimeNews] = []
    var failure: String?
    for news in news {
      switch news {
      case .subscribed: heard.append(.connected)
      case .settled: heard.append(.settled)
      case .event(let data):
        heard += MessagingMerge.all(in: data).compactMap { $0.news(for: identity, mode: mode, now: clock.now()) }
      case .refused(let code, let description): return (heard, refused(code, description))
      case .failed(let words): failure = sent.text(words)?.text
      case .reconnectAdvice(let reconnect, let wait):
        if reconnect == .none { return (heard, .ended) }
        let error = SDKError(
          .unreachable, .badResponse, "The realtime connection failed: \(failure ?? "no reason was given").",
          retryAfter: wait)
        return (heard, .lost(error))
      }
    }
    return (heard, nil)
  }

  @inline(never)
  private static func closedByVendor() -> RealtimeEnd {
    .lost(SDKError(.unreachable, .network, "\(MessagingWire.vendor) closed the realtime connection."))
  }

  @inline(never)
  private static func lost(_ failure: HTTPFailure) -> RealtimeEnd {
    guard failure == .tooLarge else { return .lost(failure.error(vendor: MessagingWire.vendor)) }
    return .lost(
      SDKError(
        .unreachable, .badResponse,
        """
        \(MessagingWire.vendor) sent a realtime message of more than \(SocketLimits().message >> 20) MiB, which is \
        lost. The connection is made again; log in again if merges are missing.
        """))
  }

  /// Returns the end after a refused subscription. It is a refusal of the credential, except with a
  /// code of 5xx, which is a fault of the server.
  private func refused(_ code: String?, _ description: String) -> RealtimeEnd {
    if code?.hasPrefix("5") == true {
      return .lost(
        SDKError(
          .unreachable, .serverError, "\(MessagingWire.vendor) can't serve the realtime connection; it is tried again.",
          vendorCode: sent.text(code), vendorDescription: sent.text(description)))
    }
    let hasExpired = identity.credential?.hasExpired(at: clock.earliest) == true
    return .refused(
      SDKError(
        .vendor, hasExpired ? .expiredJWT : .invalidAuth,
        hasExpired
          ? "The JWT has expired. Log in again with a new one."
          : "\(MessagingWire.vendor) refused the credential on the realtime connection; log in again with a new one.",
        vendorCode: sent.text(code), vendorDescription: sent.text(description)))
  }

  /// The secrets that were sent on the connection, and before.
  private var sent: SentSecrets { history.sent(identity.credential.map { [$0.token] } ?? []) }
}
