import Foundation

/// The requests that wait for an event in a namespace: a release, or a new log entry.
///
/// The owner's isolation guards it. The waiting itself happens outside that isolation, so that it blocks nothing else.
struct WaitingRoom: Sendable {
  private var doors: [Int: AsyncStream<Never>.Continuation] = [:]
  private var next = 0

  /// The number of waiting requests.
  var count: Int { doors.count }

  /// Adds a request. Returns the place where it waits, `nil` if the room is full. The caller must call `leave(_:)`.
  mutating func enter() -> Place? {
    guard doors.count < SandboxLimits.waiting else { return nil }
    let (stream, door) = AsyncStream<Never>.makeStream()
    defer { next += 1 }
    doors[next] = door
    return Place(id: next, stream: stream)
  }

  mutating func leave(_ place: Place) {
    doors.removeValue(forKey: place.id)
  }

  /// Resumes all waiting requests.
  mutating func wake() {
    for door in doors.values { door.finish() }
    doors = [:]
  }

  /// The place of one waiting request.
  struct Place: Sendable {
    fileprivate let id: Int
    fileprivate let stream: AsyncStream<Never>

    /// Returns after `wake()`, when the task is cancelled, or after `milliseconds` if given.
    func wait(milliseconds: Int? = nil) async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { [stream] in for await _ in stream {} }
        if let milliseconds {
          group.addTask { try? await Task.sleep(for: .milliseconds(milliseconds)) }
        }
        await group.next()
        group.cancelAll()
      }
    }
  }
}
