import JSONRPC
import SDKProtocol
import StateStore

/// The handlers of `events.*`.
enum EventHandlers {
  static func register(in router: inout CallRouter, host: InstanceHost) {
    let (registry, hub, store) = (host.registry, host.environment.events, host.environment.store)
    router.register(EventsSubscribe.self) { params, context in
      let filter = EventFilter(instances: params.instances, labels: params.labels, types: params.types)
      try checkVisible(params.instances, registry, context)
      let made = try await hub.subscribe(
        context.session.link, session: context.session.key, filter: filter,
        since: try params.since.map { try read($0, hub) }, text: params.since,
        isAdmin: registry.access.isAdmin(context.peer))
      context.afterReply { await hub.activate(made.id) }
      return EventsSubscribe.Result(subscription: made.name, cursor: made.cursor)
    }
    router.register(EventsUnsubscribe.self) { params, context in
      guard await hub.unsubscribe(params.subscription, session: context.session.key) else {
        throw unknown(params.subscription)
      }
      return Empty()
    }
    router.register(EventsResume.self) { params, context in
      let since = try read(params.since, hub)
      switch await hub.resume(params.subscription, since: since, session: context.session.key) {
      case .resumed(let id): context.afterReply { await hub.activate(id) }
      case .unknown: throw unknown(params.subscription)
      case .notPaused:
        throw RPCError.invalidParams(
          "The subscription \(params.subscription) is not paused: it goes on by itself, and nothing was changed.",
          member: "subscription")
      }
      return Empty()
    }
    router.register(EventsList.self) { params, context in
      try checkVisible(params.instances, registry, context)
      var place: EventPlace?
      switch try params.since.map({ try read($0, hub) }) {
      case .place(let since)?: place = since
      case .foreign?: throw foreign
      case .malformed?, nil: break
      }
      let filter = EventFilter(instances: params.instances, labels: params.labels, types: params.types)
      let listing: EventReader.Listing
      do {
        listing = try await EventReader(store: store, directory: registry).list(
          after: place, filter: filter, peer: context.peer, limit: params.limit ?? 100,
          maximumBytes: ReplyBound.pageBytes)
      } catch is ForeignCursor {
        throw foreign
      }
      await hub.settle(through: listing.last)
      // The caller may have lost the role on an instance meanwhile.
      let visible = zip(listing.events, listing.instances).filter { event, uuid in
        registry.audience(of: uuid, id: event.instance).admits(context.peer)
      }
      let cursor = hub.cursors.encode(listing.place)
      return EventsList.Result(
        events: visible.map(\.0), cursor: cursor, next: listing.isEnd ? nil : cursor, gap: listing.hasGap ? true : nil)
    }
  }

  /// Throws unless all named instances are visible, so that a filter cannot be used to probe for hidden instances.
  private static func checkVisible(
    _ instances: [InstanceID]?, _ registry: InstanceRegistry, _ context: CallContext
  ) throws {
    for id in instances ?? [] { _ = try registry.find(id, for: context.peer, atLeast: .observe) }
  }

  /// Decodes a caller's cursor. Throws `invalidParams` for a malformed one.
  private static func read(_ cursor: String, _ hub: EventHub) throws -> CursorReading {
    let reading = hub.cursors.read(cursor)
    guard reading != .malformed else {
      throw RPCError.invalidParams(
        "This is no cursor; give one as it came with an event, a gap, events.subscribe or events.list.",
        member: "since")
    }
    return reading
  }

  private static var foreign: RPCError {
    .invalidParams(
      "The cursor is not one of this daemon's state; leave since out to read from the oldest event.", member: "since")
  }

  private static func unknown(_ name: String) -> RPCError {
    .invalidParams(
      "This connection has no subscription \(name.prefix(32)); a subscription ends with its connection: "
        + "call events.subscribe with the last cursor as since.",
      member: "subscription")
  }
}
