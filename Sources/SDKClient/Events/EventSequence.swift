internal import JSONRPC
internal import JSONRPCTransport
internal import SDKProtocol

/// The events of a daemon as they happen, over a separate connection.
///
/// A lost connection is reopened, and the events continue after the last one taken, without repetition. Events that the
/// daemon no longer keeps are reported as a gap. Each iterator is a subscription of its own, which starts with the
/// first call of `next`.
public struct EventSequence: AsyncSequence, Sendable {
  public typealias Element = SubscriptionItem

  let link: DaemonLink
  let filter: EventFilter
  let since: String?

  public func makeAsyncIterator() -> Iterator { Iterator(link: link, filter: filter, cursor: since) }

  /// An iterator with a subscription of its own.
  public struct Iterator: AsyncIteratorProtocol {
    private struct Subscription {
      let connection: any SDKConnection
      let name: String
      var notifications: AsyncThrowingStream<ServerNotification, any Error>.Iterator
    }

    private let link: DaemonLink
    private let filter: EventFilter
    private var cursor: String?
    private var subscription: Subscription?
    private var isPaused = false
    private var hasBegun = false
    private var schedule: RetrySchedule

    init(link: DaemonLink, filter: EventFilter, cursor: String?) {
      self.link = link
      self.filter = filter
      self.cursor = cursor
      schedule = link.options.reconnect
    }

    /// Returns the next item; the sequence never ends by itself.
    ///
    /// - Throws: `SDKClientError` when the daemon refuses the subscription, was never reached, or did not return in
    ///   time; `CancellationError`.
    public mutating func next() async throws -> SubscriptionItem? {
      while true {
        do {
          try await begin()
          while let notification = try await subscription?.notifications.next(isolation: #isolation) {
            guard let item = take(notification) else { continue }
            schedule = link.options.reconnect
            return item
          }
          try Task.checkCancellation()
          throw SDKClientError.closed
        } catch {
          try await recover(from: error)
        }
      }
    }

    /// Subscribes if there is no subscription, and resumes after a gap.
    private mutating func begin() async throws {
      guard let current = subscription else {
        let connection = try await link.open()
        let params = EventsSubscribe.Params(
          instances: filter.instances, labels: filter.labels, types: filter.types, since: cursor)
        let answer = try JSONValueDecoder.decode(
          EventsSubscribe.Result.self,
          from: try await connection.call(EventsSubscribe.self, params, link.options.callTimeout))
        // Without this cursor, a connection lost before the first event would miss events.
        cursor = cursor ?? answer.cursor
        hasBegun = true
        isPaused = false
        subscription = Subscription(
          connection: connection, name: answer.subscription,
          notifications: connection.notifications.makeAsyncIterator())
        return
      }
      guard isPaused, let cursor else { return }
      _ = try await current.connection.call(
        EventsResume.self, .init(subscription: current.name, since: cursor), link.options.callTimeout)
      isPaused = false
    }

    private mutating func take(_ notification: ServerNotification) -> SubscriptionItem? {
      guard let params = notification.params, params["subscription"]?.stringValue == subscription?.name else {
        return nil
      }
      switch notification.method {
      case EventsEvent.name:
        guard let event = params["event"] else { return nil }
        if let place = event["cursor"]?.stringValue { cursor = place }
        return (try? JSONValueDecoder.decode(Event.self, from: event)).map(SubscriptionItem.event) ?? .unknown(event)
      case EventsGap.name:
        guard let resume = params["resume"]?.stringValue else { return nil }
        cursor = resume
        isPaused = true
        return .gap(from: params["from"]?.stringValue, resume: resume)
      default: return nil
      }
    }

    private mutating func recover(from error: any Error) async throws {
      subscription?.connection.close()
      subscription = nil
      let failure = try link.failure(error)
      guard hasBegun || (failure.isRestart && link.wasConnected), failure.isPassing,
        let pause = schedule.next(random: link.options.random())
      else { throw failure }
      try await link.options.sleep(Swift.max(pause, failure.retryAfter ?? .zero))
    }
  }
}

extension SDKConnection {
  fileprivate func call<M: RPCMethod>(
    _ method: M.Type, _ params: M.Params, _ timeout: Duration?
  ) async throws -> JSON {
    try await call(method: M.name, params: try JSONValueEncoder.encode(params), timeout: timeout)
  }
}
