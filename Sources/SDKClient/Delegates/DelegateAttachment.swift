internal import SDKProtocol

/// A connection that answers for instances, until it is detached, lost, or this object goes away.
public final class DelegateAttachment: Sendable {
  private let connection: any SDKConnection
  private let link: DaemonLink

  init(_ connection: any SDKConnection, _ link: DaemonLink) {
    self.connection = connection
    self.link = link
  }

  deinit { connection.close() }

  /// Waits until the connection has ended, such as by a restart of the daemon: then attach again. To be called once.
  ///
  /// - Throws: `SDKClientError` when it ended for another reason, or `CancellationError`.
  public func ended() async throws {
    do {
      for try await _ in connection.notifications {}
    } catch {
      throw try link.failure(error)
    }
    try Task.checkCancellation()
  }

  /// Answers no more, and is not waited for.
  ///
  /// - Throws: `SDKClientError`, or `CancellationError`.
  public func detach() async throws {
    defer { connection.close() }
    do {
      _ = try await connection.call(method: DelegateDetach.name, params: nil, timeout: nil)
    } catch {
      throw try link.failure(error)
    }
  }
}
