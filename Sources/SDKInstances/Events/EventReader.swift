import JSONRPC
import SDKProtocol
import StateStore

/// A reader of past events, for `events.list`.
struct EventReader {
  /// The result of a search in the event log.
  struct Listing {
    var events: [Event] = []
    /// The instances of the events.
    var instances: [InstanceUUID] = []
    /// The position of the last event in `events`; 0 without one.
    var last: UInt64 = 0
    /// The position up to which the log was searched.
    var place: EventPlace
    /// Whether the search reached the newest event.
    var isEnd = false
    /// Whether damaged events were left out, or retention dropped events after the requested place that the caller could have seen, or of deleted
    /// instances whose access rules are no longer known.
    var hasGap = false
  }

  let store: any StateStore
  let directory: any EventDirectory

  private static let pageSize = 128
  /// The maximum number of pages that one call reads.
  private static let pageLimit = 64

  /// Returns visible events after a place, oldest first. Stops at `limit` events or before exceeding `maximumBytes`.
  ///
  /// - Parameter place: `nil` for the oldest retained event.
  /// - Throws: `ForeignCursor` for a place past this state's newest event; `storeUnavailable`.
  func list(
    after place: EventPlace?, filter: EventFilter, peer: Peer, limit: Int, maximumBytes: Int
  ) async throws -> Listing {
    // The directory knows the instances of all events up to `newest`, but perhaps not those created later.
    let newest = try await store.newestPosition()
    let watched = directory.watched(by: peer, filter)
    var found = Listing(place: place ?? EventPlace(0))
    var bytes = 0
    for number in 0..<Self.pageLimit {
      let page = try await store.eventPage(after: found.place.position, limit: Self.pageSize, of: watched)
      if let place {
        if number == 0, place.position > page.newest { throw ForeignCursor() }
        // Each page can have damaged events. What retention dropped is in all of them.
        if let told = page.gap(at: found.place, of: watched) {
          found.hasGap = true
          found.place = told
        }
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
          found.instances.append(event.uuid)
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

/// The error for a cursor that belongs to another state.
struct ForeignCursor: Error {}
