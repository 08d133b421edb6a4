import JSONRPC
import NIOCore
import NIOPosix
import Synchronization

@testable import JSONRPCTransport

/// A connection without a socket: a program's handler on one side, a plain client on the other.
///
/// It uses the same admission, batches and cancellations as a real connection.
final class InMemoryConnection: Sendable {
  /// The server's side of the connection, as passed to `makeHandler`.
  let connection: Connection
  /// The lines from the server that aren't responses to `call`: notifications, requests, responses to `send`. For one
  /// reader.
  let lines: AsyncStream<JSON>

  private let eventLoop: any EventLoop
  private let wire: NIOLoopBoundBox<InMemoryWire?>
  private let calls = Mutex(PendingCalls())

  /// Connects a client to the handler that `makeHandler` returns.
  ///
  /// - Parameter handed: the state of a connection of another process, which this one continues.
  init(
    peer: PeerCredentials = PeerCredentials(pid: 1, uid: 0, gid: 0),
    settings: ConnectionSettings = ConnectionSettings(), allowance: Allowance? = nil,
    adopting handed: ConnectionHandOver? = nil, makeHandler: @escaping Listener.MakeHandler
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
      guard let handed else { return }
      core.adopt(handed)
      core.repeatRequests(handed)
      core.flush()
    }
  }

  deinit { close() }

  /// Calls a method and waits for its result. If the task is cancelled, sends `$/cancelRequest` and throws at once.
  ///
  /// - Throws: the server's `RPCError`, `ClientConnectionError.closed`, or `CancellationError`.
  func call(method: String, params: JSON? = nil) async throws -> JSON {
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

  /// Sends a line unchanged; `line` has no newline.
  func send(_ line: String) { deliver(Array(line.utf8)) }

  /// Ends the client's input. Requests in progress are answered, then the connection ends.
  func endInput() { onWire { $0?.core.inputEnded() } }

  /// Ends the connection at once, like a client that disconnects.
  func close() { onWire { $0?.close() } }

  /// Takes the connection out of its process when no request is in progress. Returns `nil` if it is closed instead.
  func handOver(within time: Duration = .seconds(60)) async throws -> ConnectionHandOver? {
    let isSettled = await withCheckedContinuation { (waiter: CheckedContinuation<Bool, Never>) in
      eventLoop.execute { [connection] in
        connection.whenSettled(within: time) { waiter.resume(returning: $0 != nil) }
      }
    }
    guard isSettled else { return nil }
    return try await eventLoop.submit { [connection] in connection.pack([:])?.state }.get()
  }

  /// Waits until the connection has ended and its last call has returned.
  func closed() async { await connection.closed() }

  /// Returns the request id of a call: a string such as `c1`, which differs from the numeric ids in lines that tests
  /// `send`.
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

  /// Passes a response to the waiting call. Returns false if `json` is not the response to one. `nil` reports the end
  /// of the connection, which fails all waiting calls.
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

/// A wire that passes lines to a client in the same process. Used on the connection's event loop only.
final class InMemoryWire: Wire {
  let core: ConnectionCore
  private let lines: AsyncStream<JSON>.Continuation
  /// Receives each message from the server. Returns whether it was the response to a `call`; other messages go to
  /// `lines`. `nil` reports the end of the connection.
  private let receive: (JSON?) -> Bool
  private var framer = Framer(limit: .max - 1, framing: .lines)

  init(core: ConnectionCore, lines: AsyncStream<JSON>.Continuation, receive: @escaping (JSON?) -> Bool) {
    self.core = core
    self.lines = lines
    self.receive = receive
  }

  func send(_ bytes: ByteBuffer) {
    framer.append(bytes.readableBytesView)
    while case .frame(let line)? = framer.next() {
      guard let json = try? JSONParser.parse(line), !receive(json) else { continue }
      lines.yield(json)
    }
    core.sent(bytes.readableBytes)
  }

  func endInput() { core.inputEnded() }

  func abort() { close() }

  func detach() -> DetachedWire? {
    lines.finish()
    return DetachedWire(descriptor: -1, input: [], unsent: ByteBuffer())
  }

  func close() {
    guard !core.isLost else { return }
    core.lost()
    _ = receive(nil)
    lines.finish()
  }
}
