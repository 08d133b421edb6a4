/// Where journal entries go.
public protocol JournalDestination: Sendable {
  /// Sends one entry. May block until journald takes it.
  func send(_ fields: [JournalField]) throws(SystemCallError)
}
