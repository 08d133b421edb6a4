import Concurrency
import DelegateBridge
import JSONRPC
import JSONRPCTransport
import NIOCore
import NIOPosix
import SDKInstances
import SDKProtocol
import ServiceLifecycle
import StateStore
import Systemd

/// A service for the control socket. On shutdown it stops accepting and notifies subscribers. Requests in progress end
/// as `Drain` says.
struct ListenerService: Service {
  let listener: Listener
  let group: MultiThreadedEventLoopGroup
  let live: LiveConfiguration
  let gateway: Gateway
  let operations: Operations
  let events: EventHub
  let delegates: Delegates
  let bridge: ProviderBridge
  let admission: PeerAdmission
  let allowances: UserAllowances
  let meter: ConnectionMeter
  let notifier: Notifier
  let socketFile: ControlSocketFile?
  let registry: InstanceRegistry
  let database: SQLiteStateStore?
  let handOver: HandOver
  /// The connections of the former daemon.
  let handed: HandedConnections
  /// Resolved when connections are accepted; with an error if they never will be.
  let accepting: Promise<Void>
  /// Ends the requests to vendors that are in progress.
  let hangUp: @Sendable () async -> Void
  private var grace: Double { live.current.shutdown.grace / .seconds(1) }

  private var settings: ConnectionSettings {
    ConnectionSettings(limits: live.current.limits.transport, takesLargeFrames: { gateway.takesLargeFrames($0) })
  }

  /// The longest time for each step of the adoption. The unit of a peer is known or given up before.
  private static let adoptionLimit = PeerAdmission.patience + .seconds(1)

  func run() async throws {
    // Before any connection, and before a hand-over that begins during the start.
    allowances.adopt(handOver.rates, at: Self.now)
    defer { accepting.resolve(.failure(CancellationError())) }
    try await withGracefulShutdownHandler {
      let former = await adoption
      try await listener.run(
        on: group, settings: settings, admit: admit,
        whenAccepting: { [accepting] in accepting.resolve(.success(())) }, adopting: former
      ) { connection in
        let allowance = connection.allowance
        meter.began(isAdmin: allowance == nil)
        return ControlHandler(connection, gateway: gateway) {
          if let allowance { allowances.end(allowance) }
          meter.ended(isAdmin: allowance == nil)
        }
      }
    } onGracefulShutdown: {
      socketFile?.end()
      let isReplaced = handOver.isRequested
      let counts = "\(gateway.callsInProgress) calls of \(meter.open) connections, at most \(grace) s"
      if isReplaced {
        notifier.status("restarting in place: finishing \(counts)")
      } else {
        notifier.stopping(status: "stopping: finishing \(counts)")
      }
      // An adoption that hangs, calls that are cancelled after the grace, and the last commits take additional time.
      notifier.extendTimeout(microseconds: UInt64((grace + 30) * 1_000_000))
      operations.start {
        if handOver.isPossible { await handOverConnections(keepsFile: isReplaced) } else { await drain() }
      }
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
    // First, so that clients do not repeat on the same connection what the next line gives back to them.
    listener.drain(grace: .seconds(grace))
    operations.drain.begin()
    bridge.stop()
  }

  /// Leaves the connections to the next daemon. Those whose calls can't end within the grace are closed.
  private func handOverConnections(keepsFile: Bool) async {
    // First, so that the connections keep what the next lines end.
    let isRunning = listener.beginHandOver(keepsFile: keepsFile)
    operations.drain.begin()
    bridge.stop()
    // After the grace, the calls whose requests are ended then still answer.
    let time = Duration.seconds(grace) + .milliseconds(750)
    let connections = isRunning ? await listener.handOver(within: time) : handed.take()
    handOver.pack(connections, allowances.usedRates(at: Self.now), database)
  }

  /// The time of the event loops, by which rates are counted.
  private static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

  /// The connections of the former daemon, with the rules and limits that hold now. Waits until the instances are
  /// restored, because the rules of the instances decide who is a stranger; `nil` for no connections.
  private var adoption: Adoption? {
    get async {
      guard handed.count > 0 else {
        handOver.report(kept: 0, refused: 0, meter.handedOver)
        return nil
      }
      try? await registry.availability.waitForStart(unless: operations.drain)
      await admission.update([])
      return Adoption(
        handed, stepLimit: Self.adoptionLimit, seen: HandedPeer.seen,
        admit: { reported(admission.admit($0, isAdopted: true), $0) },
        whenDone: { handOver.report(kept: $0, refused: $1, meter.handedOver) })
    }
  }

  private func admit(_ peer: PeerCredentials) -> ConnectionAdmission {
    reported(admission.admit(peer), peer)
  }

  /// Passes a decision on, and notifies the observers of a refusal.
  private func reported(_ decision: ConnectionAdmission, _ peer: PeerCredentials) -> ConnectionAdmission {
    switch decision {
    case .admitted: break
    case .refused(let error): gateway.refused(Peer(peer, user: admission.user(of: peer)), error)
    case .pending(let decide): return .pending { reported(await decide(), peer) }
    }
    return decision
  }
}
