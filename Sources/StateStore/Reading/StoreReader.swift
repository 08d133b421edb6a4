import Dispatch
import SDKProtocol
import SQLite
import Synchronization

/// A reader that works beside the writer, on a connection and a queue of its own.
///
/// The connection is used and closed only on the queue, so that it is never used after it was closed.
final class StoreReader: Sendable {
  private let queue = DispatchQueue(label: "sdkd.store.reader")
  private let connection = Mutex<DatabaseConnection?>(nil)

  func open(at path: String) throws {
    let opened = try StoreConnection.reader(at: path)
    connection.withLock { $0 = opened }
  }

  /// Reads on a connection that is open already.
  func use(_ opened: DatabaseConnection) { connection.withLock { $0 = opened } }

  /// Closes the connection, runs `body` while reads wait, and opens the connection again. If that fails, reads continue
  /// on the connection of `fallback`, or else fail until a later call succeeds.
  func whileClosed(
    thenOpenAt path: String, orElse fallback: () -> DatabaseConnection?, _ body: () throws -> Void
  ) throws {
    try queue.sync {
      closeConnection()
      do {
        try body()
        try open(at: path)
      } catch {
        if let connection = fallback() { use(connection) }
        throw error
      }
    }
  }

  /// Waits for the read in progress and closes the connection.
  func close() { queue.sync { closeConnection() } }

  private func closeConnection() {
    let closing = connection.withLock { connection in
      defer { connection = nil }
      return connection
    }
    try? closing?.close()
  }

  /// Returns the result of `body`, which reads from one snapshot.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(SDKError) -> Value {
    let result: Result<Value, SDKError> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.perform(body)) }
    }
    return try result.get()
  }

  private func perform<Value>(_ body: (Database) throws -> Value) -> Result<Value, SDKError> {
    guard let connection = connection.withLock({ $0 }) else {
      return .failure(.storeUnavailable("The store is closed or being opened again; try again in a moment."))
    }
    do {
      return .success(try connection.read(body))
    } catch let error as SDKError {
      return .failure(error)
    } catch {
      return .failure(.storeUnavailable("The store can't be read (\(StoreFailure.text(error))); look at the disk."))
    }
  }
}
