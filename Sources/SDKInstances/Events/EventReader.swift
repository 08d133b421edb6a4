import JSONRPC
import SDKProtocol
import StateStore

/// Reads the past for `events.list`.
struct EventReader {
  /// What was found.
  struct Listing {
    var events: [Event] = []
    /// The position of the last of them.
    var last: UInt64 = 0
    /// All up to here was looked at.
    var place: EventPlace
    /// Whether there is nothing after it now.
    var isEnd = false
    /// Whether retention has taken something after the place asked for that could have been seen.
    var hasGap = false
  }

  let store: any StateStore
  let directory: any EventDirectory

  private static let pageSize = 128
  /// How much of the log one call looks at.
  private static let pageLimit = 64

  /// Visible events after a place, oldest first.
  ///
  /// - Parameter place: `nil` for the oldest that is kept.
  /// - Throws: `foreignCursor` for a place that this state has not come to; `storeUnavailable`.
  func list(
    after place: EventPlace?, filter: EventFilter, peer: Peer, limit: Int, maximumBytes: Int
  ) async throws -> Listing {
    // The directory knows the instances of all events up to here, but maybe not those that are made from now on.
    let newest = try await store.eventPage(after: .max, limit: 0, of: []).newest
    let watched = directory.watched(by: peer, filter)
    var found = Listing(place: place ?? EventPlace(0))
    var bytes = 0
    for number in 0..<Self.pageLimit {
      let page = try await store.eventPage(after: found.place.position, limit: Self.pageSize, of: watched)
      if number == 0, let place {
        if place.position > page.newest { throw ForeignCursor() }
        let lost = page.lost(of: watched)
        found.hasGap = lost > max(place.position, place.acknowledged)
        found.place.acknowledged = max(place.acknowledged, lost)
      }
      for event in page.events where event.position <= newest {
        let audience = directory.audience(of: event.uuid, id: event.id)
        if audience.admits(peer), filter.admits(event, of: audience) {
          let text = EventText(event, cursors: store.cursors)
          if found.events.count == limit || (!found.events.isEmpty && bytes + text.bytes.count > maximumBytes) {
            return found
          }
          bytes += text.bytes.count
          found.events.append(text.shape)
          found.last = event.position
        }
        found.place.position = event.position
      }
      found.place.position = max(found.place.position, min(page.reached, newest))
      if found.place.position >= newest {
        found.isEnd = true
        return found
      }
    }
    return found
  }
}

/// The place is one of another state.
struct ForeignCursor: Error {}
