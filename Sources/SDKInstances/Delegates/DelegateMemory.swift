/// Where it is kept over a restart which instances had a delegate. What is lost costs no more than an early
/// `noProvider`, so it need not be durable.
public protocol DelegateMemory: Sendable {
  /// The uuids that were saved last.
  func load() -> Set<String>
  /// Keeps these uuids in place of the former. Must not block the thread that it is called on; the next call comes after
  /// its end.
  func save(_ instances: Set<String>) async
}
