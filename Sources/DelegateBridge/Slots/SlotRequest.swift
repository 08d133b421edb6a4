/// A run that wants a slot.
struct SlotRequest: Sendable, Hashable {
  /// Tells runs apart.
  let id: Int
  /// Whose question it answers; the queue is fair between its instances.
  let key: BridgeKey
  /// Whose share it counts against.
  let owner: ProviderOwner
  /// How many runs the instance's provider allows at a time.
  let concurrency: Int
}
