import Logging
import SDKProtocol
import StateStore

extension EventHub {
  /// The number of unsent bytes past which replay pauses, until less than half of them are unsent.
  private static let replayBytes = 128 << 10

  /// Delivers the events after a subscription's position, then makes the subscription live.
  func replay(_ id: UInt64) async {
    while let subscription = table[id], subscription.phase == .replaying {
      if goLive(subscription) { return }
      let place = subscription.place
      if subscription.isCompared, place.position < told, let first = recent.first,
        first.event.position <= place.position + 1
      {
        let next = recent.drop { $0.event.position <= place.position }.prefix(Self.pageSize)
        _ = await pass(Array(next), to: id)
      } else {
        await readPage(for: subscription)
      }
    }
  }

  /// Makes a subscription live if it has nothing to replay. Returns whether it did.
  func goLive(_ subscription: Subscription) -> Bool {
    let position = subscription.place.position
    guard !subscription.isForeign, position >= told, position <= max(told, newestKnown) else { return false }
    table.setPhase(.live, of: subscription)
    return true
  }

  private func readPage(for subscription: Subscription) async {
    let start = subscription.isForeign ? EventPlace(0) : subscription.place
    let limit = told
    let watched = directory.watched(by: subscription.link.peer, subscription.filter)
    let page: EventPage
    do throws(SDKError) {
      page = try await store.eventPage(after: start.position, limit: Self.pageSize, of: watched)
    } catch {
      logger.error("Events can't be read for a subscriber: \(error.message)", metadata: ["reason": "\(error.reason)"])
      if subscription.phase == .replaying { pause(subscription) }
      return
    }
    guard subscription.phase == .replaying else { return }
    // A position past the newest event belongs to a state that was replaced by an older one.
    if start.position > page.newest {
      subscription.isForeign = true
      return
    }
    let told = page.gap(at: start, of: watched)
    if subscription.isForeign || told != nil {
      subscription.place = told ?? start
      return pause(subscription)
    }
    subscription.isCompared = true
    // The store has this position, although its event was not reported to the hub yet. Events that were delivered to
    // others during the read are passed next.
    if start.position >= self.told { return table.setPhase(.live, of: subscription) }
    let events = page.events.filter { $0.position <= limit }.map { EventText($0, cursors: cursors) }
    if await pass(events, to: subscription.id) {
      subscription.place.position = max(start.position, min(page.reached, limit))
    }
  }

  /// Delivers those of the events that a subscription may see, as fast as its peer reads. Returns `false` if delivery
  /// stopped before the last event.
  private func pass(_ events: [EventText], to id: UInt64) async -> Bool {
    for text in events {
      guard let subscription = table[id], subscription.phase == .replaying else { return false }
      if subscription.link.unsentBytes > Self.replayBytes {
        await subscription.link.writable(below: Self.replayBytes / 2)
      }
      guard subscription.phase == .replaying else { return false }
      guard !subscription.link.isClosed else {
        table.remove(subscription)
        return false
      }
      let event = text.event
      let audience = directory.audience(of: event.uuid, id: event.id)
      if audience.admits(subscription.link.peer), subscription.filter.admits(event, of: audience) {
        subscription.send(text)
      }
      subscription.place.position = event.position
    }
    return table[id]?.phase == .replaying
  }
}
