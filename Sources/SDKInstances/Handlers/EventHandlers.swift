import JSONRPC
import SDKProtocol
import StateStore

/// The handlers of `events.*`.
enum EventHandlers {
  /// Replies stay below 60 KiB.
  static let maximumReplyBytes = 48 * 1024

  static func register(in router: inout Router<CallContext>, registry: InstanceRegistry) {
    let hub = registry.environment.events
    router.register(EventsSubscribe.self) { params, context in
      let filter = EventFilter(instances: params.instances, labels: params.labels, types: params.types)
      try checkVisible(params.instances, registry, context)
      let made = try await hub.subscribe(
        context.session.link, session: context.session.key, filter: filter, since: params.since,
        isAdmin: registry.access.isAdmin(context.peer))
      context.afterReply { await hub.activate(made.name) }
      return EventsSubscribe.Result(subscription: made.name, cursor: made.cursor)
    }
    router.register(EventsUnsubscribe.self) { params, context in
      guard await hub.unsubscribe(params.subscription, session: context.session.key) else {
        throw unknown(params.subscription)
      }
      return Empty()
    }
    router.register(EventsResume.self) { params, context in
      guard await hub.resume(params.subscription, since: params.since, session: context.session.key) else {
        throw unknown(params.subscription)
      }
      context.afterReply { await hub.activate(params.subscription) }
      return Empty()
    }
    router.register(EventsList.self) { params, context in
      try checkVisible(params.instances, registry, context)
      // Retention is each instance's own: what is kept may stand before what another instance has lost.
      var start: UInt64 = 0
      if let since = params.since {
        guard let position = hub.cursors.decode(since) else {
          throw RPCError.invalidParams(
            "The cursor is not one of this daemon's state; leave since out to read from the oldest event.",
            member: "since")
        }
        start = position
      }
      let page = try await hub.list(
        after: start, filter: EventFilter(instances: params.instances, types: params.types), peer: context.peer,
        limit: params.limit ?? 100, maximumBytes: maximumReplyBytes)
      let cursor = hub.cursors.encode(page.position)
      return EventsList.Result(events: page.events, cursor: cursor, next: page.isEnd ? nil : cursor)
    }
  }

  /// An instance that is named must be visible, or a filter would tell hidden from missing ones by its silence.
  private static func checkVisible(
    _ instances: [InstanceID]?, _ registry: InstanceRegistry, _ context: CallContext
  ) throws {
    for id in instances ?? [] { _ = try registry.find(id, for: context.peer, atLeast: .observe) }
  }

  private static func unknown(_ name: String) -> RPCError {
    .invalidParams(
      "This connection has no subscription \(name.prefix(32)), or the cursor is not one of this daemon's state.",
      member: "subscription")
  }
}
