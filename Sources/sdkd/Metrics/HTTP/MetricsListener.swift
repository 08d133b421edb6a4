import Glibc
import JSONRPCTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import OpenMetrics
import Synchronization

/// An HTTP server of the metrics for this machine: a listening socket and its connections.
///
/// Each connection gets one response within a deadline. When there are too many, the oldest is closed.
final class MetricsListener: Sendable {
  /// A function that generates the text in a format and delivers it, on any thread.
  typealias Source = @Sendable (_ format: MetricsFormat, _ deliver: @escaping @Sendable (String) -> Void) -> Void

  /// The reason why there is no listener.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The largest number of connections at a time.
  static let capacity = 16
  /// The longest time of a connection.
  private static let patience = TimeAmount.seconds(10)

  private let server: any Channel
  private let file: SocketFile?
  private let limit: ConnectionLimit

  private init(server: any Channel, file: SocketFile?, limit: ConnectionLimit) {
    self.server = server
    self.file = file
    self.limit = limit
  }

  /// Listens and serves until `close` is called.
  static func open(
    _ address: ListenAddress, on group: MultiThreadedEventLoopGroup, source: @escaping Source
  ) async throws(Failure) -> MetricsListener {
    let limit = ConnectionLimit(capacity)
    let bootstrap = bootstrap(address, group, limit, source)
    do {
      switch address {
      case .loopback(let host, let port):
        let address = try SocketAddress(ipAddress: host, port: Int(port))
        return MetricsListener(server: try await bootstrap.bind(to: address).get(), file: nil, limit: limit)
      case .path(let path):
        let socket = try ListeningSocket.bind(path: path, mode: 0o660)
        do {
          let server = try await bootstrap.withBoundSocket(socket.descriptor).get()
          return MetricsListener(server: server, file: socket.file, limit: limit)
        } catch {
          socket.file.remove()
          throw error
        }
      }
    } catch let error as IOError {
      throw Failure(description: words(for: error, address))
    } catch {
      throw Failure(description: "Metrics can't be served at \(address): \(error)")
    }
  }

  private static func words(for error: IOError, _ address: ListenAddress) -> String {
    let why =
      switch error.errnoCode {
      case EADDRINUSE: "another program has this port; stop it, or choose another one"
      case EACCES: "that takes more rights; choose a port from 1024 on"
      case EADDRNOTAVAIL: "this machine has no such address"
      case let code: "errno \(code)"
      }
    return "Metrics can't be served at \(address): \(why) ([metrics] listen)."
  }

  private static func bootstrap(
    _ address: ListenAddress, _ group: MultiThreadedEventLoopGroup, _ limit: ConnectionLimit,
    _ source: @escaping Source
  ) -> ServerBootstrap {
    ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 64)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler { true })
        }
      }
      .childChannelInitializer { channel in
        limit.admit(channel)
        // Closes a connection that lasts longer than a response should, whatever the peer does.
        let end = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in end.cancel() }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
          try channel.pipeline.syncOperations.addHandler(MetricsHTTPHandler(address: address, source: source))
        }
      }
  }

  /// Stops listening and closes all connections.
  func close() async {
    file?.remove()
    try? await server.close()
    limit.closeAll()
  }
}

/// A limit on open connections: a new one beyond it closes the oldest.
final class ConnectionLimit: Sendable {
  private let open = Mutex<[any Channel]>([])
  private let capacity: Int

  init(_ capacity: Int) { self.capacity = capacity }

  /// Adds a connection. Closes the oldest if there are too many.
  func admit(_ channel: any Channel) {
    let oldest = open.withLock { open -> (any Channel)? in
      open.append(channel)
      return open.count > capacity ? open.removeFirst() : nil
    }
    oldest?.close(promise: nil)
    channel.closeFuture.whenComplete { [weak self] _ in
      self?.open.withLock { open in open.removeAll { $0 === channel } }
    }
  }

  /// Closes all connections.
  func closeAll() {
    for channel in open.withLock({ $0 }) { channel.close(promise: nil) }
  }
}
