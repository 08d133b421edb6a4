import NIOCore
import NIOPosix
import NIOSSL
import SDKInstances

/// An attempt to open a WebSocket: connection, TLS and upgrade within one time limit.
final class SocketAttempt: Sendable {
  /// State that only the event loop accesses.
  private final class Progress {
    var channel: (any Channel)?
    var isAbandoned = false
  }

  private let loop: any EventLoop
  private let progress: NIOLoopBoundBox<Progress>
  private let turn = Turn<LiveSocket>()

  init(on loop: any EventLoop) {
    self.loop = loop
    progress = NIOLoopBoundBox.makeBoxSendingValue(Progress(), eventLoop: loop)
  }

  /// Opens the socket on this route and no other.
  func open(
    _ request: UpgradeRequest, at url: VendorURL, _ route: Route, tls: NIOSSLContext?, timeout: TimeAmount,
    limits: SocketLimits
  ) async throws(HTTPFailure) -> LiveSocket {
    let turn = turn
    let progress = progress
    let timer = loop.scheduleTask(in: timeout) {
      let isConnected = progress.value.channel != nil
      turn.resolve(.failure(isConnected ? .timeout : route.tunnel?.timeout ?? .timeout))
    }
    Self.connect(route, on: loop, until: .now() + timeout)
      .whenComplete { result in
        switch result {
        case .failure(let error): turn.resolve(.failure(HTTPFailure(socket: error)))
        case .success(let channel):
          guard !progress.value.isAbandoned else { return channel.close(promise: nil) }
          progress.value.channel = channel
          Self.equip(channel, request, url, tls, limits, turn)
        }
      }
    let outcome = await turn.outcome()
    timer.cancel()
    if case .failure = outcome { loop.execute { Self.abandon(progress.value) } }
    return try outcome.get()
  }

  /// Connects to the vendor's server: to one of the addresses in order, and then through the tunnel if there is one.
  static func connect(
    _ route: Route, on loop: any EventLoop, until deadline: NIODeadline
  ) -> EventLoopFuture<any Channel> {
    let timeout = deadline - .now()
    let patience = route.addresses.count > 1 ? min(timeout, .seconds(10)) : timeout
    let connection = connect(route.addresses[...], port: route.port, on: loop, timeout: patience)
    guard let tunnel = route.tunnel else { return connection }
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
      .connect(to: address)
    guard addresses.count > 1 else { return attempt }
    return attempt.flatMapError { _ in connect(addresses.dropFirst(), port: port, on: loop, timeout: timeout) }
  }

  private static func equip(
    _ channel: any Channel, _ request: UpgradeRequest, _ url: VendorURL, _ tls: NIOSSLContext?,
    _ limits: SocketLimits, _ turn: Turn<LiveSocket>
  ) {
    do {
      if let tls {
        let handler = try NIOSSLClientHandler(context: tls, serverHostname: url.serverName)
        try channel.pipeline.syncOperations.addHandler(handler)
      }
      try channel.pipeline.syncOperations.addHandler(UpgradeHandler(request, limits: limits, turn: turn))
    } catch {
      turn.resolve(.failure(HTTPFailure(socket: error)))
      channel.close(promise: nil)
    }
  }

  private static func abandon(_ progress: Progress) {
    progress.isAbandoned = true
    progress.channel?.close(promise: nil)
  }
}
