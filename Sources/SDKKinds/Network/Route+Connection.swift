import NIOCore
import NIOPosix
import SDKInstances

extension Route {
  /// Connects to the vendor's server: to one of the addresses in order, and then through the tunnel if there is one.
  func connect(on loop: any EventLoop, until deadline: NIODeadline) -> EventLoopFuture<any Channel> {
    let timeout = deadline - .now()
    let patience = addresses.count > 1 ? min(timeout, .seconds(10)) : timeout
    let connection = Self.connect(addresses[...], port: port, on: loop, timeout: patience)
    guard let tunnel else { return connection }
    return connection.flatMapErrorThrowing { throw tunnel.failure(connecting: $0) }
      .flatMap { TunnelHandler.open(tunnel, on: $0, until: deadline) }
  }

  /// Tries the addresses in order until one of them connects, each with this time limit.
  private static func connect(
    _ addresses: ArraySlice<NetworkAddress>, port: Int, on loop: any EventLoop, timeout: TimeAmount
  ) -> EventLoopFuture<any Channel> {
    guard let first = addresses.first, let address = try? SocketAddress(ipAddress: first.text, port: port) else {
      return loop.makeFailedFuture(HTTPFailure.network("its name has no address"))
    }
    let attempt = ClientBootstrap(group: loop)
      .connectTimeout(timeout)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: ConnectionTurns.bytes))
      .connect(to: address)
    guard addresses.count > 1 else { return attempt }
    return attempt.flatMapError { _ in connect(addresses.dropFirst(), port: port, on: loop, timeout: timeout) }
  }
}

/// An inquiry into why a proxy opened no tunnel, which the HTTP client does not report.
///
/// It requests the tunnel once more and closes it at once, so nothing is sent to the server.
enum TunnelInquiry {
  /// Returns the failure in words for the operator.
  static func failure(
    of tunnel: Tunnel, _ route: Route, until deadline: NIODeadline, on loop: any EventLoop
  ) async -> HTTPFailure {
    guard deadline > .now() else { return tunnel.timeout }
    do {
      let channel = try await route.connect(on: loop, until: deadline).get()
      channel.close(promise: nil)
      return tunnel.failure("opened no connection to \(tunnel.target), but did so a moment later; try again")
    } catch {
      return HTTPFailure(socket: error)
    }
  }
}

/// The turns of a connection on the event loop that all vendors share: one read of a few KiB, and then the others'.
enum ConnectionTurns {
  /// The number of bytes that one read takes at most.
  static let bytes = 16 << 10

  /// Limits the reads of a channel.
  static func limit(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.setOption(.maxMessagesPerRead, value: 1).flatMap {
      channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: bytes))
    }
  }
}
