internal import CLinux
internal import Glibc
public import JSONRPC
internal import NIOCore
public import NIOPosix
internal import Synchronization

/// A listening socket and the connections that it accepted.
///
/// Call `run` once. A listener that was never run closes its socket when it is deinitialized.
public final class Listener: Sendable {
  /// Decides about a new connection before its first byte is read. Runs on an event loop.
  ///
  /// Each admitted connection gets a handler, whose `closed()` reports the connection's end.
  public typealias Admission = @Sendable (PeerCredentials) -> ConnectionAdmission
  /// Makes the program's side of an admitted connection. Runs on the connection's event loop.
  public typealias MakeHandler = @Sendable (Connection) -> any ConnectionHandler

  private enum Phase {
    case idle(descriptor: CInt)
    case running(ServerRun)
    case draining
  }

  private let phase: Mutex<Phase>
  private let file: SocketFile?

  /// Takes over a listening socket, such as one passed by systemd. Its path is never removed.
  ///
  /// - Throws: `notListening`; the descriptor then still belongs to the caller.
  public convenience init(descriptor: Int32) throws(ListenerError) {
    try self.init(descriptor: descriptor, file: nil)
  }

  private init(descriptor: Int32, file: SocketFile?) throws(ListenerError) {
    func option(_ name: CInt) -> CInt? {
      var value: CInt = 0
      var size = socklen_t(MemoryLayout<CInt>.size)
      return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
    guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == CInt(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN) == 1
    else { throw .notListening(descriptor: descriptor) }
    _ = cl_set_cloexec(descriptor)
    phase = Mutex(.idle(descriptor: descriptor))
    self.file = file
  }

  /// Takes over a listening socket that another process of this program bound at `path`.
  ///
  /// - Throws: `notListening`; the descriptor then still belongs to the caller.
  public convenience init(descriptor: Int32, boundAt path: String) throws(ListenerError) {
    try self.init(descriptor: descriptor, file: SocketFile(path: path))
  }

  private init(_ socket: ListeningSocket) {
    phase = Mutex(.idle(descriptor: socket.descriptor))
    file = socket.file
  }

  deinit {
    guard case .idle(let descriptor) = phase.withLock({ $0 }) else { return }
    file?.remove()
    close(descriptor)
  }

  /// Makes a socket at `path` with the permissions `mode` (such as `0o660`). An existing socket is replaced if no
  /// process answers on it.
  ///
  /// - Throws: `inUse` if a process answers, and the other errors of `ListenerError`.
  public static func bind(path: String, mode: UInt32) throws(ListenerError) -> Listener {
    Listener(try ListeningSocket.bind(path: path, mode: mode))
  }

  /// Serves connections until `drain`, and returns when the last has ended. Cancelling the task drains without grace.
  ///
  /// - Parameters:
  ///   - whenAccepting: called once, as soon as connections are accepted.
  ///   - handed: connections of another process, which are set up before the first one is accepted.
  /// - Throws: an error if the socket can't be served at all.
  public func run(
    on group: MultiThreadedEventLoopGroup, settings: ConnectionSettings = ConnectionSettings(),
    admit: @escaping Admission = { _ in .admitted(nil) }, whenAccepting: @escaping @Sendable () -> Void = {},
    adopting handed: Adoption? = nil, makeHandler: @escaping MakeHandler
  ) async throws {
    let start = phase.withLock { phase -> (ServerRun, CInt)? in
      guard case .idle(let descriptor) = phase else { return nil }
      let run = ServerRun(group: group, settings: settings, admit: admit, makeHandler: makeHandler)
      phase = .running(run)
      return (run, descriptor)
    }
    guard let (run, descriptor) = start else { return }
    try await withTaskCancellationHandler {
      try await run.serve(descriptor, file, adopting: handed, whenAccepting: whenAccepting)
    } onCancel: {
      drain(grace: .zero)
    }
  }

  /// The socket; `nil` once `run` or `drain` was called.
  public var descriptor: Int32? { if case .idle(let descriptor) = phase.withLock({ $0 }) { descriptor } else { nil } }

  /// Stops accepting and reading. Requests that end with the error `shuttingDown` from now on are kept for `handOver`,
  /// and not answered.
  ///
  /// - Parameter keepsFile: whether the next process listens on the same socket, so that its file stays.
  /// - Returns: whether `run` was called. It does nothing otherwise, and the connections that it would have continued
  ///   still belong to its caller.
  public func beginHandOver(keepsFile: Bool) -> Bool {
    let before = phase.withLock { phase -> Phase in
      defer { if case .idle = phase { phase = .draining } }
      return phase
    }
    switch before {
    case .running(let run): run.beginHandOver(keepsFile: keepsFile)
    case .idle(let descriptor):
      if !keepsFile { file?.remove() }
      close(descriptor)
      return false
    case .draining: break
    }
    return true
  }

  /// Takes the connections out of this process, after `beginHandOver`. `run` then returns. A connection is closed if it
  /// can't be handed over, or if its requests in progress take longer than `time`.
  public func handOver(within time: Duration) async -> [HandedConnection] {
    if case .running(let run) = phase.withLock({ $0 }) { await run.handOver(within: time) } else { [] }
  }

  /// The open connections; none before `run`.
  public var connections: [Connection] {
    if case .running(let run) = phase.withLock({ $0 }) { run.connections } else { [] }
  }

  /// Replaces the limits of open and future connections. Does nothing before `run`.
  public func use(_ limits: TransportLimits) {
    if case .running(let run) = phase.withLock({ $0 }) { run.use(limits) }
  }

  /// Stops serving. `run` returns when all connections have ended.
  ///
  /// New connections stay in the backlog, and new requests are answered `shuttingDown`. Idle connections are closed at
  /// once, busy ones when they become idle, and all of them after `grace`. For a peer that does not read its
  /// responses it waits only as long as `ConnectionCore` allows. A second call can shorten the grace.
  public func drain(grace: Duration) {
    let before = phase.withLock { phase -> Phase in
      defer { if case .idle = phase { phase = .draining } }
      return phase
    }
    switch before {
    case .idle(let descriptor):
      file?.remove()
      close(descriptor)
    case .running(let run): run.drain(grace: grace)
    case .draining: break
    }
  }
}
