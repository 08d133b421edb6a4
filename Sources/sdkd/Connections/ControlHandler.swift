import JSONRPC
import JSONRPCTransport
import SDKInstances

/// A connection handler that passes requests to the gateway.
final class ControlHandler: ConnectionHandler {
  private let gateway: Gateway
  private let operations: Operations
  private let session: ClientSession
  private let meter: ConnectionMeter
  private let onClose: @Sendable () -> Void

  init(
    _ connection: Connection, gateway: Gateway, operations: Operations, meter: ConnectionMeter,
    onClose: @escaping @Sendable () -> Void
  ) {
    self.gateway = gateway
    self.meter = meter
    self.operations = operations
    self.onClose = onClose
    session = ClientSession(link: ConnectionLink(connection))
  }

  func prepare(_ request: RPCRequest) -> RPCRequest { gateway.prepare(request) }

  func accept(_ request: RPCRequest) -> Acceptance {
    switch gateway.accept(request, session: session) {
    case .reply(let result): .reply(result)
    case .run(let call): .run(Call(call, operations, meter))
    }
  }

  func refused(_ request: RPCRequest, with error: RPCError) { gateway.refused(request, error, by: session) }

  func receive(notification method: String, params: JSON?) {
    // Ignored: a notification other than a cancellation has no effect and gets no response.
  }

  func closed() {
    onClose()
    operations.start { [gateway, session] in await gateway.ended(session) }
  }

  private struct Call: AcceptedCall {
    let call: PendingCall
    let operations: Operations
    let meter: ConnectionMeter

    init(_ call: PendingCall, _ operations: Operations, _ meter: ConnectionMeter) {
      self.call = call
      self.operations = operations
      self.meter = meter
      meter.callBegan()
    }

    func run() async -> Result<[UInt8], RPCError> {
      defer { meter.callEnded() }
      return await call.run()
    }

    func abandon() {
      meter.callEnded()
      call.abandon()
    }

    func answered() { operations.start { await call.answered() } }
  }
}
