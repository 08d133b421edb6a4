/// A record, kept over a restart, of the instances that had a delegate. It need not be durable: losing it only causes
/// an early `noProvider`.
public protocol DelegateMemory: Sendable {
  /// Returns the UUIDs that were saved last.
  func load() -> Set<String>
  /// Replaces the saved UUIDs. Must not block the thread that it is called on. Calls never overlap.
  func save(_ instances: Set<String>) async
}
