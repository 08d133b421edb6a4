import FlyingFox
import FlyingSocks
import Foundation

/// A development server on loopback that imitates the vendors of the SDKs.
///
/// It verifies signatures, can be scripted to fail, and keeps everything in memory. Never run it in production: its
/// keys are public and it shows every secret that it receives.
public actor SandboxServer {
  private let http: HTTPServer
  private let jobs = SocketJobs()
  private var sockets: Task<Void, Never>?
  private var running: Task<Void, any Error>?

  /// Creates a server for `port` of 127.0.0.1; 0 selects a free port. It listens after ``start()``.
  public init(port: UInt16 = 0) throws {
    try self.init(port: port, pool: HTTPServer.defaultPool())
  }

  init(port: UInt16 = 0, pool: some AsyncSocketPool) throws {
    let configuration = HTTPServer.Configuration(
      address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
      // A script may delay a response for long. The sandbox's own limits end the delay, not the library's.
      timeout: 86_400,
      sharedRequestBufferSize: SandboxLimits.body,
      pool: PromptSockets(pool),
      logger: .disabled)
    http = HTTPServer(config: configuration, handler: SandboxHandler(namespaces: NamespaceRegistry(), jobs: jobs))
  }

  deinit {
    sockets?.cancel()
    running?.cancel()
  }

  /// Starts to listen and returns the port. Throws if it can't listen on the port.
  public func start() async throws -> UInt16 {
    let (events, event) = AsyncStream<(any Error)?>.makeStream()
    sockets = Task { [jobs] in await jobs.run() }
    let running = Task { [http, jobs] in
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask {
          defer { jobs.finish() }
          do { try await http.run() } catch {
            event.yield(error)
            throw error
          }
        }
        group.addTask {
          try await http.waitUntilListening()
          event.yield(nil)
        }
      }
    }
    self.running = running
    for await failure in events {
      if let failure { throw failure }
      break
    }
    guard case .ip4(_, let port)? = await http.listeningAddress else { throw SocketError.disconnected }
    return port
  }

  /// Returns when the server has stopped. Throws if it stopped because of an error.
  public func run() async throws {
    try await running?.value
  }

  /// Stops listening and cuts every connection, hanging ones included.
  public func stop() async {
    // The library closes a connection without waiting for the task that reads it. That task would then read whatever
    // has the same descriptor next. Therefore the WebSockets end first.
    jobs.finish()
    sockets?.cancel()
    await sockets?.value
    await http.stop(timeout: 0)
    running?.cancel()
    _ = await running?.result
  }
}
