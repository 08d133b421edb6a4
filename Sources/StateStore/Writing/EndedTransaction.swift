public import SDKProtocol

/// A transaction that has ended, as reported to an observer of the store.
public struct EndedTransaction: Sendable {
  /// The number of changes in the transaction.
  public var changes: Int
  /// The number of changes that failed and are not on disk.
  public var failed: Int
  /// The types of the events written to the event log.
  public var events: [EventType]
  /// The time that the transaction took, including the writes to disk.
  public var duration: Duration
}

/// A function that the writer's queue calls after each transaction. It must return quickly and must not block.
public typealias TransactionObserver = @Sendable (EndedTransaction) -> Void

extension EndedTransaction {
  /// Creates the report of a transaction with these results of its changes.
  init(_ results: [Result<CommitResult, SDKError>], duration: Duration) {
    var failed = 0
    var events: [EventType] = []
    for result in results {
      switch result {
      case .success(let done): events += done.events.map(\.type)
      case .failure: failed += 1
      }
    }
    self.init(changes: results.count, failed: failed, events: events, duration: duration)
  }
}
