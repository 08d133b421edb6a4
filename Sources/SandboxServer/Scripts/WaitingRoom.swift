import Foundation

/// Requests that wait for something to happen in a namespace: to be released, or for the log to grow.
///
/// Its owner's isolation guards it; waiting itself happens outside, so that nothing else is held up.
struct WaitingRoom: Sendable {
  private var doors: [Int: AsyncStream<Never>.Continuation] = [:]
  private var next = 0

  /// How many wait.
  var count: Int { doors.count }

  /// A place to wait at, `nil` when the room is full. Whoever entered must `leave`.
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

  /// Lets everybody go on.
  mutating func wake() {
    for door in doors.values { door.finish() }
    doors = [:]
  }

  /// One request's place.
  struct Place: Sendable {
    fileprivate let id: Int
    fileprivate let stream: AsyncStream<Never>

    /// Returns when woken, when the task is cancelled, or after so many milliseconds if given.
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
