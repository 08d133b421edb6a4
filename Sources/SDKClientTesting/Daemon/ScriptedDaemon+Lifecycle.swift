internal import Glibc
internal import SDKClient
internal import SDKProtocol
internal import Synchronization

extension ScriptedDaemon {
  static var ownUid: UInt32 { geteuid() }

  /// How many connections there are.
  public var connectionCount: Int { connections.count }

  /// Ends all connections without a word, as a daemon that is killed and is there again at once. Calls in progress get
  /// no answer: a read is sent again, of a write the outcome is unknown.
  public func drop() {
    for connection in connections { connection.close() }
  }

  /// Stops: connections that are subscribed or attached hear `daemon.closing`, all are ended, and nobody listens until
  /// `start()`. Answers and the past's events are kept.
  public func stop() {
    state.withLock { $0.isListening = false }
    for connection in connections {
      connection.notify(method: DaemonClosing.name, params: ["graceSeconds": 0])
      connection.close()
    }
  }

  /// Listens again.
  public func start() { state.withLock { $0.isListening = true } }

  private var connections: [ScriptedConnection] {
    state.withLock { $0.connections.compactMap(\.connection).filter { !$0.isClosed } }
  }

  /// A connection has ended.
  func ended(_ connection: ScriptedConnection) {
    state.withLock { state in
      state.connections.removeAll { $0.connection == nil || $0.connection === connection }
      state.events.remove(connection)
      state.delegates.removeAll { $0.connection == nil || $0.connection === connection }
    }
  }
}
