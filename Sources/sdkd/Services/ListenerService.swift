import DelegateBridge
import JSONRPC
import JSONRPCTransport
import NIOCore
import NIOPosix
import SDKInstances
import SDKProtocol
import ServiceLifecycle
import Systemd

/// A service for the control socket. On shutdown it stops accepting, notifies subscribers, and lets requests in
/// progress end.
struct ListenerService: Service {
  let listener: Listener
  let group: MultiThreadedEventLoopGroup
  let live: LiveConfiguration
  let gateway: Gateway
  let operations: Operations
  let events: EventHub
  let delegates: Delegates
  let access: @Sendable () -> AccessPolicy
  let allowances: UserAllowances
  let meter: ConnectionMeter
  let notifier: Notifier
  let socketFile: ControlSocketFile?
  /// Ends the requests to vendors that are in progress.
  let hangUp: @Sendable () async -> Void
  private let headroom = DescriptorHeadroom(limit: ConnectionLimits.descriptors)

  private var grace: Double { live.current.grace }

  private var settings: ConnectionSettings {
    ConnectionSettings(limits: live.current.transport, takesLargeFrames: { gateway.takesLargeFrames($0) })
  }

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await listener.run(on: group, settings: settings, admit: admit) { connection in
        let uid = connection.peer.uid
        let isCounted = connection.allowance != nil
        meter.began(isAdmin: !isCounted)
        return ControlHandler(connection, gateway: gateway) {
          if isCounted { allowances.end(uid) }
          meter.ended(isAdmin: !isCounted)
        }
      }
    } onGracefulShutdown: {
      socketFile?.end()
      notifier.stopping(
        status: "stopping: finishing \(gateway.callsInProgress) calls of \(meter.open) connections, at most \(grace) s")
      // Calls that are cancelled after the grace, and the last commits, take additional time.
      notifier.extendTimeout(microseconds: UInt64((grace + 15) * 1_000_000))
      operations.start { await drain() }
      // A connection ends with its last call, and a call may wait for its vendor even when its caller is gone.
      operations.startBackground { [grace, hangUp] in
        do { try await Task.sleep(for: .seconds(grace)) } catch { return }
        await hangUp()
      }
    }
  }

  private func drain() async {
    if let params = try? JSONValueEncoder.encode(DaemonClosing.Params(graceSeconds: grace)) {
      await events.announce(
        RPCText.notification(method: DaemonClosing.name, params: params), to: delegates.connections)
    }
    delegates.close()
    listener.drain(grace: .seconds(grace))
  }

  private func isAdmin(_ peer: PeerCredentials) -> Bool { access().isAdmin(Peer(peer)) }

  private func admit(_ peer: PeerCredentials) -> ConnectionAdmission {
    let admission = admission(of: peer)
    if case .refused(let error) = admission { gateway.refused(Peer(peer), error) }
    return admission
  }

  private func admission(of peer: PeerCredentials) -> ConnectionAdmission {
    guard headroom.isThere(after: peer.highestDescriptor) else {
      let message = "The daemon has no file descriptors for another connection; try again later, or raise LimitNOFILE=."
      return .refused(SDKError(.limit, .rateLimit, message, retryAfter: 1).rpcError)
    }
    if isAdmin(peer) { return .admitted(nil) }
    return allowances.admit(peer.uid, at: NIODeadline.now().uptimeNanoseconds)
  }
}
