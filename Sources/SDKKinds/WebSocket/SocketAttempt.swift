import NIOCore
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
    route.connect(on: loop, until: .now() + timeout)
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
