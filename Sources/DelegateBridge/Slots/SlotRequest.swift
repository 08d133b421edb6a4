/// A request for a slot.
struct SlotRequest: Sendable, Hashable {
  /// The number that identifies the run.
  let id: Int
  /// The key of the question. The queue is fair between instances.
  let key: BridgeKey
  /// The owner whose share the run counts against.
  let owner: ProviderOwner
  /// The number of runs that the instance's provider allows at a time.
  let concurrency: Int
}
