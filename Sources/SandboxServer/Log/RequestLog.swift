import Foundation

/// What a namespace has received, in order and bounded: the oldest entries go first.
struct RequestLog: Sendable {
  private var entries: [LoggedRequest] = []
  private var bytes = 0
  private var next = 0

  /// The entries whose index is at least `first`.
  func entries(since first: Int = 0) -> ArraySlice<LoggedRequest> {
    guard let oldest = entries.first?.index else { return [] }
    return entries.dropFirst(max(0, min(first - oldest, entries.count)))
  }

  /// Notes a request, or a frame of `socket`, that has just arrived; gives the index under which it is kept.
  mutating func begin(_ request: SandboxRequest, at time: Date, socket: Int? = nil) -> Int {
    let index = next
    next += 1
    entries.append(LoggedRequest(index: index, time: time, request: request, socket: socket))
    bytes += request.body.count
    // A tenth more than the limit before trimming: one removal for many entries.
    if entries.count > SandboxLimits.log * 11 / 10 {
      remove(entries.count - SandboxLimits.log)
    }
    while bytes > SandboxLimits.logBytes, entries.count > 1 { remove(max(1, entries.count / 10)) }
    return index
  }

  /// Adds what was answered; without effect when the entry has been cleared meanwhile.
  mutating func finish(_ index: Int, status: Int?, note: String?, socket: Int? = nil) {
    guard let oldest = entries.first?.index, index >= oldest, index - oldest < entries.count else { return }
    entries[index - oldest].status = status
    entries[index - oldest].note = note
    if let socket { entries[index - oldest].socket = socket }
  }

  /// Forgets everything; indices go on where they were, so that a late `finish` can't hit another request.
  mutating func clear() {
    entries = []
    bytes = 0
  }

  private mutating func remove(_ count: Int) {
    bytes -= entries.prefix(count).reduce(0) { $0 + $1.request.body.count }
    entries.removeFirst(count)
  }
}
