public import JSONRPC
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A connection without a socket, for tests: a program's handler on one side, a plain client on the other.
///
/// It goes through the same admission, batches and cancellations as a real one.
public final class InMemoryConnection: Sendable {
  /// The server's side, as the handler has it.
  public let connection: Connection
  /// Every line from the server that answers no `call`: notifications, requests, answers to `send`. For one reader.
  public let lines: AsyncStream<JSON>

  private let eventLoop: any EventLoop
  private let wire: NIOLoopBoundBox<InMemoryWire?>
  private let calls = Mutex(PendingCalls())

  /// Connects a client to the handler that `makeHandler` makes.
  public init(
    peer: PeerCredentials = PeerCredentials(pid: 1, uid: 0, gid: 0),
    settings: ConnectionSettings = ConnectionSettings(), allowance: Allowance? = nil,
    makeHandler: @escaping Listener.MakeHandler
  ) {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    let connection = Connection(peer: peer, allowance: allowance, eventLoop: eventLoop)
    let (lines, continuation) = AsyncStream.makeStream(of: JSON.self)
    let wire = NIOLoopBoundBox<InMemoryWire?>.makeEmptyBox(valueType: InMemoryWire.self, eventLoop: eventLoop)
    self.connection = connection
    self.lines = lines
    self.eventLoop = eventLoop
    self.wire = wire
    eventLoop.execute { [weak self] in
      let core = connection.makeCore(settings)
      let made = InMemoryWire(core: core, lines: continuation) { [weak self] in self?.receive($0) ?? false }
      wire.value = made
      core.start(wire: made, handler: makeHandler(connection))
    }
  }

  deinit { close() }

  /// Calls a method and waits for its result. A cancelled task sends `$/cancelRequest` and waits no more.
  ///
  /// - Throws: the server's `RPCError`, `ClientConnectionError.closed`, or `CancellationError`.
  public func call(method: String, params: JSON? = nil) async throws -> JSON {
    let id = calls.withLock { $0.reserve() }
    let text = RPCText.request(id: Self.rpcID(id), method: method, params: params ?? [:])
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        guard calls.withLock({ $0.wait(id, waiter, until: nil) }) else {
          return waiter.resume(throwing: CancellationError())
        }
        deliver(text) { [weak self] in
          self?.calls.withLock { $0.remove(id) }?.resume(throwing: ClientConnectionError.closed)
        }
      }
    } onCancel: {
      guard let waiter = calls.withLock({ $0.cancel(id) }) else { return }
      deliver(RPCText.notification(method: TransportMethod.cancelRequest, params: ["id": Self.rpcID(id).json]))
      waiter.resume(throwing: CancellationError())
    }
  }

  /// Sends a line as it is, without its newline.
  public func send(_ line: String) { deliver(Array(line.utf8)) }

  /// Says that nothing more is sent: what is in progress is answered, then the connection ends.
  public func endInput() { onWire { $0?.core.inputEnded() } }

  /// Ends the connection as a client that goes away.
  public func close() { onWire { $0?.close() } }

  /// Waits until the connection has ended and its last call has returned.
  public func closed() async { await connection.closed() }

  /// Apart from the numbers that tests write into their lines.
  private static func rpcID(_ number: Int) -> RPCID { .string("c\(number)") }

  private func deliver(_ line: [UInt8], orElse: @escaping @Sendable () -> Void = {}) {
    onWire { wire in
      guard let wire, !wire.core.isLost, !wire.core.state.isInputEnded else { return orElse() }
      wire.core.receive(line[...])
    }
  }

  private func onWire(_ body: @escaping @Sendable (InMemoryWire?) -> Void) {
    eventLoop.execute { [wire] in body(wire.value) }
  }

  /// A line for the client. False when it belongs to no call; `nil` says that no more come.
  private func receive(_ json: JSON?) -> Bool {
    guard let json else {
      for waiter in calls.withLock({ $0.removeAll() }) { waiter.resume(throwing: ClientConnectionError.closed) }
      return true
    }
    guard case .response(.string(let text), let result) = RPCMessage(json), let id = Int(text.dropFirst()),
      text == "c\(id)", let waiter = calls.withLock({ $0.remove(id) })
    else { return false }
    waiter.resume(with: result.mapError { $0 as any Error })
    return true
  }
}
