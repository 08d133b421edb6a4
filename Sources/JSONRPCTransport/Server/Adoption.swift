internal import Synchronization

/// Connections of another process until they are continued.
///
/// They can be taken once, so that their bytes don't stay in memory: they count for no quota, and can contain secrets.
public final class HandedConnections: Sendable {
  /// The number of the connections.
  public let count: Int
  private let contents: Mutex<[HandedConnection]>

  /// Creates the connections, whose descriptors belong to whoever takes them.
  public init(_ connections: [HandedConnection]) {
    count = connections.count
    contents = Mutex(connections)
  }

  /// Removes and returns the connections; none if they were taken before.
  public func take() -> [HandedConnection] {
    contents.withLock { contents in
      defer { contents = [] }
      return contents
    }
  }
}

/// The connections of another process that a listener continues.
public struct Adoption: Sendable {
  /// The connections, which the listener takes.
  public let connections: HandedConnections
  /// The longest time for each of two steps: setting the connections up, and continuing the program's state of them.
  /// The connections that take longer are closed.
  public let stepLimit: Duration
  /// Returns a peer's process, by its number, as another process has seen it; `nil` if none has. Called before `admit`.
  public let seen: @Sendable (_ pid: Int32, ConnectionHandOver) -> PinnedProcess?
  /// Decides about each of the connections.
  public let admit: Listener.Admission
  /// Called with the numbers of connections that continue, and of those that `admit` has refused. No request is
  /// handled before. The other connections could not be continued in time.
  public let whenDone: @Sendable (_ kept: Int, _ refused: Int) -> Void

  /// Creates an adoption.
  public init(
    _ connections: HandedConnections, stepLimit: Duration,
    seen: @escaping @Sendable (_ pid: Int32, ConnectionHandOver) -> PinnedProcess?,
    admit: @escaping Listener.Admission, whenDone: @escaping @Sendable (_ kept: Int, _ refused: Int) -> Void
  ) {
    self.connections = connections
    self.stepLimit = stepLimit
    self.seen = seen
    self.admit = admit
    self.whenDone = whenDone
  }
}
