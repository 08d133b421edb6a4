internal import Glibc
internal import SDKClient
internal import SDKProtocol
internal import Synchronization

extension ScriptedDaemon {
  static var ownUid: UInt32 { geteuid() }

  /// The number of open connections.
  public var connectionCount: Int { connections.count }

  /// Closes all connections without notice, like a daemon that is killed and restarts at once. Calls in progress get no
  /// response: a client sends reads again, and throws `outcomeUnknown` for writes.
  public func drop() {
    for connection in connections { connection.close() }
  }

  /// Stops the daemon: sends `daemon.closing` on every connection, closes it, and refuses connections until `start()`.
  /// Answers and past events are kept.
  public func stop() {
    state.withLock { $0.isListening = false }
    for connection in connections {
      connection.notify(method: DaemonClosing.name, params: ["graceSeconds": 0])
      connection.close()
    }
  }

  /// Accepts connections again.
  public func start() { state.withLock { $0.isListening = true } }

  private var connections: [ScriptedConnection] {
    state.withLock { $0.connections.compactMap(\.connection).filter { !$0.isClosed } }
  }

  /// Removes a connection that has ended, with its subscriptions and attachments.
  func ended(_ connection: ScriptedConnection) {
    state.withLock { state in
      state.connections.removeAll { $0.connection == nil || $0.connection === connection }
      state.events.remove(connection)
      state.delegates.removeAll { $0.connection == nil || $0.connection === connection }
    }
  }
}
