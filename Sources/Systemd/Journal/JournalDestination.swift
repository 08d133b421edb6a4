public import Linux

/// A destination for journal entries.
public protocol JournalDestination: Sendable {
  /// Sends one entry. May block until journald accepts it.
  func send(_ fields: [JournalField]) throws(SystemCallError)
}
