public import SDKProtocol

/// A transaction that has ended, for whoever observes the store.
public struct EndedTransaction: Sendable {
  /// How many changes shared it.
  public var changes: Int
  /// How many of them are not on disk.
  public var failed: Int
  /// What was written into the record of events.
  public var events: [EventType]
  /// How long it took, the disk included.
  public var duration: Duration
}

/// Hears of transactions as they end, on the writer's queue: it must be quick and must not wait.
public typealias TransactionObserver = @Sendable (EndedTransaction) -> Void
