import Synchronization

extension DelegateTable {
  /// An attachment of a connection that another daemon continues.
  public typealias Handed = (instance: DelegatedInstance, timeout: Duration?, order: UInt64)

  /// Returns the attachments of a connection.
  public func attachments(of connection: Connection) -> [Handed] {
    seats.withLock { $0.attachments(of: connection).map { ($0.instance, $0.timeout, $0.order) } }
  }

  /// Attaches a connection that was attached in an earlier daemon. No event is emitted, because nothing has changed. It
  /// gets the questions that wait.
  public func adopt(_ connection: Connection, _ handed: Handed) {
    seats.withLock { seats in
      guard
        (try? seats.attach(connection, to: [handed.instance], timeout: handed.timeout, order: handed.order))
          != nil
      else { return }
      seats.activate(connection)
    }
  }
}
