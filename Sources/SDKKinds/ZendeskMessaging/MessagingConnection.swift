import JSONRPC
import SDKInstances
import SDKProtocol

/// The realtime socket of one user: moves messages between the socket and the Bayeux client, and says what they mean.
actor MessagingConnection: RealtimeConnection {
  private enum Incoming: Sendable {
    case text(String)
    case timer
    case closed
    case broken(HTTPFailure)
  }

  private let socket: any VendorSocket
  private var client: Bayeux
  private let identity: IdentityRecord
  private let mode: String
  private let clock: WallClock
  private let start = ContinuousClock.now

  init(_ socket: any VendorSocket, _ client: Bayeux, identity: IdentityRecord, mode: String, clock: WallClock) {
    self.socket = socket
    self.client = client
    self.identity = identity
    self.mode = mode
    self.clock = clock
  }

  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    var step = client.take(.opened, at: time)
    while true {
      if let end = await carryOut(step, hear) { return end }
      switch await Self.next(of: socket, within: step.wake.map { $0 - time }) {
      case .text(let text): step = client.take(.text(text), at: time)
      case .timer: step = client.take(.timer, at: time)
      case .closed:
        return .lost(SDKError(.unreachable, .network, "\(MessagingWire.vendor) closed the realtime connection."))
      case .broken(let failure): return .lost(failure.error(vendor: MessagingWire.vendor))
      }
    }
  }

  func perform(_ request: JSONObject) async throws(SDKError) -> JSONObject {
    throw SDKError(.state, .wrongKind, "Nothing is asked on this connection.")
  }

  func close() async {
    let frames = client.take(.closing, at: time).frames
    // Leaving is a courtesy: nobody waits long for it.
    _ = await withTaskGroup(of: Void.self) { [socket] group in
      group.addTask { for frame in frames { try? await socket.send(frame) } }
      group.addTask { try? await Task.sleep(for: .seconds(1)) }
      await group.next()
      group.cancelAll()
    }
    await socket.close()
  }

  /// Seconds on a clock that does not go back.
  private var time: Double { start.duration(to: .now) / .seconds(1) }

  /// Does what the client wants; how the connection has ended, if it has.
  private func carryOut(
    _ step: Bayeux.Step, _ hear: @Sendable (RealtimeNews) async -> Void
  ) async -> RealtimeEnd? {
    for frame in step.frames {
      do throws(HTTPFailure) {
        try await socket.send(frame)
      } catch {
        return .lost(error.error(vendor: MessagingWire.vendor))
      }
    }
    var failure: String?
    for news in step.news {
      switch news {
      case .subscribed: await hear(.connected)
      case .event(let data):
        for merge in MessagingMerge.all(in: data) {
          if let news = merge.news(for: identity, mode: mode, now: clock.now()) { await hear(news) }
        }
      case .refused(let code, let description): return refused(code, description)
      case .failed(let words): failure = words
      case .reconnectAdvice(let reconnect, let wait):
        if reconnect == .none { return .ended }
        return .lost(
          SDKError(
            .unreachable, .badResponse, "The realtime connection failed: \(failure ?? "no reason was given").",
            retryAfter: wait))
      }
    }
    return nil
  }

  /// The subscription was refused, which is a refusal of the credential (`vendors.md` 1.2) unless the server is ill.
  private func refused(_ code: String?, _ description: String) -> RealtimeEnd {
    if code?.hasPrefix("5") == true {
      return .lost(
        SDKError(
          .unreachable, .serverError, "\(MessagingWire.vendor) can't serve the realtime connection; it is tried again.",
          vendorCode: code, vendorDescription: description))
    }
    let hasExpired = identity.credential?.hasExpired(at: clock.now()) == true
    return .refused(
      SDKError(
        .vendor, hasExpired ? .expiredJWT : .invalidAuth,
        hasExpired
          ? "The JWT has expired. Log in again with a new one."
          : "\(MessagingWire.vendor) refused the credential on the realtime connection; log in again with a new one.",
        vendorCode: code, vendorDescription: description))
  }

  /// What comes next: a message, the end, or the time. A message that comes together with the time is not lost.
  private static func next(of socket: any VendorSocket, within seconds: Double?) async -> Incoming {
    await withTaskGroup(of: Incoming?.self) { group in
      group.addTask {
        do throws(HTTPFailure) {
          return try await socket.next().map { .text($0) } ?? .closed
        } catch {
          return .broken(error)
        }
      }
      if let seconds {
        group.addTask {
          do {
            try await Task.sleep(for: .seconds(min(max(seconds, 0), 86_400)))
            return .timer
          } catch {
            return nil
          }
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      let second = await group.next() ?? nil
      switch (first, second) {
      case (.timer?, .text(let text)?), (.text(let text)?, _): return .text(text)
      case (.timer?, .closed?): return .closed
      case (.timer?, _): return .timer
      case (let only?, _), (nil, let only?): return only
      case (nil, nil): return .broken(.network("the wait for it was cancelled"))
      }
    }
  }
}
