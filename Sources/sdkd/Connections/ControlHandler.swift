import JSONRPC
import JSONRPCTransport
import SDKInstances

/// A connection handler that passes requests to the gateway.
final class ControlHandler: ConnectionHandler {
  private let gateway: Gateway
  private let link: ConnectionLink
  private let session: ClientSession
  private let onClose: @Sendable () -> Void

  init(_ connection: Connection, gateway: Gateway, onClose: @escaping @Sendable () -> Void) {
    self.gateway = gateway
    self.onClose = onClose
    link = ConnectionLink(connection)
    session = ClientSession(link: link)
  }

  func prepare(_ request: RPCRequest) -> RPCRequest { gateway.prepare(request) }

  func accept(_ request: RPCRequest) -> Acceptance { gateway.accept(request, session: session) }

  func refused(_ request: RPCRequest, with error: RPCError) { gateway.refused(request, error, by: session) }

  func receive(notification: RPCRequest) -> (any AcceptedCall)? {
    // Other notifications of the protocol itself, whose names begin so, may be ignored.
    guard !notification.method.hasPrefix("$/"), case .run(let call) = gateway.accept(notification, session: session)
    else { return nil }
    return call
  }

  func handOver() async -> JSON? {
    guard var state = await gateway.handOver(session)?.objectValue else { return nil }
    state[HandedPeer.member] = link.seenProcess.map(HandedPeer.json)
    return .object(state)
  }

  func adopt(_ state: JSON) async {
    await gateway.adopt(state, session)
    // The adoption took too long: `closed` may have run before the state was continued.
    if link.isClosed { gateway.ended(session) }
  }

  func closed() {
    onClose()
    gateway.ended(session)
  }
}
