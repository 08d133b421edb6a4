import JSONRPC
import SDKInstances
import SDKProtocol

/// The realtime socket of one user: moves messages between the socket and the Bayeux client, and says what they mean.
actor MessagingConnection: RealtimeConnection {
  private let socket: any VendorSocket
  private var client: Bayeux
  private let identity: IdentityRecord
  private let mode: String
  private let clock: WallClock
  private let former: FormerClient?
  private let start = ContinuousClock.now

  /// - Parameter former: where the client id is kept when the connection breaks.
  init(
    _ socket: any VendorSocket, _ client: Bayeux, identity: IdentityRecord, mode: String, clock: WallClock,
    former: FormerClient? = nil
  ) {
    self.former = former
    self.socket = socket
    self.client = client
    self.identity = identity
    self.mode = mode
    self.clock = clock
  }

  func run(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    let end = await exchange(hear)
    if case .lost = end, let id = client.resumable { former?.keep(id, for: identity, isKnown: !client.isResuming) }
    return end
  }

  private func exchange(_ hear: @escaping @Sendable (RealtimeNews) async -> Void) async -> RealtimeEnd {
    var step = client.take(.opened, at: time)
    while true {
      if let end = await carryOut(step, hear) { return end }
      do throws(HTTPFailure) {
        guard let text = try await socket.next(within: step.wake.map { $0 - time }) else {
          return .lost(SDKError(.unreachable, .network, "\(MessagingWire.vendor) closed the realtime connection."))
        }
        step = client.take(.text(text), at: time)
      } catch .timeout {
        step = client.take(.timer, at: time)
      } catch .tooLarge {
        return .lost(
          SDKError(
            .unreachable, .badResponse,
            """
            \(MessagingWire.vendor) sent a realtime message of more than \(SocketLimits().message >> 20) MiB, which is \
            lost. The connection is made again; log in again if merges are missing.
            """))
      } catch {
        return .lost(error.error(vendor: MessagingWire.vendor))
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
      case .settled: await hear(.settled)
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
}
