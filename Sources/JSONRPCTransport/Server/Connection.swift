public import JSONRPC
internal import NIOCore
internal import Synchronization

/// The program's handle to a connection. All functions can be called from any thread.
public final class Connection: Sendable {
  /// A number that is unique among the connections of this process.
  public let id: UInt64
  /// The credentials of the process at the other end.
  public let peer: PeerCredentials
  /// The quotas shared by all connections of the user; `nil` if the user has none.
  public let allowance: Allowance?

  let eventLoop: any EventLoop
  private let outbox: Outbox
  private let core: NIOLoopBoundBox<ConnectionCore?>
  private let ended: EventLoopPromise<Void>
  private let lastQuestion: Atomic<UInt64>

  private static let lastID = Atomic<UInt64>(0)

  init(
    peer: PeerCredentials, allowance: Allowance? = nil, eventLoop: any EventLoop,
    adopting state: ConnectionHandOver? = nil
  ) {
    lastQuestion = Atomic(state?.lastQuestion ?? 0)
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.peer = peer
    self.allowance = allowance
    outbox = Outbox(allowance: allowance)
    self.eventLoop = eventLoop
    core = .makeEmptyBox(eventLoop: eventLoop)
    ended = eventLoop.makePromise()
  }

  /// Makes the connection's core, which runs on the event loop. Call this once, on the event loop.
  ///
  /// The caller must report the end of the connection by calling `lost()` of the core. Until then `closed()` does not
  /// return.
  func makeCore(_ settings: ConnectionSettings) -> ConnectionCore {
    let core = ConnectionCore(
      eventLoop: eventLoop, settings: settings, outbox: outbox, allowance: allowance, ended: ended)
    self.core.value = core
    ended.futureResult.assumeIsolated().whenComplete { _ in self.core.value = nil }
    return core
  }

  /// The number of bytes that the peer has not taken yet. A slow reader has many.
  public var outboundBytes: Int { outbox.unsent }

  /// Whether the connection has ended.
  public var isClosed: Bool { outbox.isClosed }

  /// Sends a notification.
  public func notify(method: String, params: JSON) {
    notify(text: RPCText.notification(method: method, params: params))
  }

  /// Sends the ready-made text of a message. Does nothing if the connection has ended.
  ///
  /// Messages from the same thread keep their order.
  public func notify(text: [UInt8]) {
    if outbox.add(text) { onLoop { $0?.collect() } }
  }

  /// Calls `body` once, as soon as fewer than `bytes` are unsent or the connection has ended.
  ///
  /// `body` runs on the event loop, or in the calling thread if the connection has ended already.
  public func whenWritable(below bytes: Int, _ body: @escaping @Sendable () -> Void) {
    if isClosed { return body() }
    onLoop { core in
      if let core { core.whenUnsent(below: bytes, body) } else { body() }
    }
  }

  /// Sends a request to the peer and waits for its response.
  ///
  /// When the task is cancelled or the time is over, the peer gets `$/cancelRequest` and this throws at once. The ids
  /// (`"d1"`, `"d2"` …) are independent of those of the peer's own requests.
  ///
  /// - Parameter timeout: the time to wait; `nil` to wait as long as the connection lasts.
  public func request(
    method: String, params: JSON, timeout: Duration?
  ) async throws(PeerRequestError) -> JSON {
    if isClosed { throw .closed }
    let handle = Questions.Handle(id: "d\(lastQuestion.add(1, ordering: .relaxed).newValue)")
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Questions.Answer, Never>) in
        onLoop { core in
          guard let core else { return continuation.resume(returning: .failure(.closed)) }
          core.ask(handle, method: method, params: params, timeout: timeout, continuation)
        }
      }
    } onCancel: {
      handle.isCancelled.store(true, ordering: .relaxed)
      if !isClosed { onLoop { $0?.takeBack(handle.id, .cancelled) } }
    }
    return try answer.get()
  }

  /// Ends the connection after what was sent so far, without waiting for a peer that doesn't read it.
  public func close() {
    if !isClosed { onLoop { $0?.cutOff() } }
  }

  /// Calls `body` when the connection has ended and its last call has returned.
  func whenEnded(_ body: @escaping @Sendable () -> Void) { ended.futureResult.whenComplete { _ in body() } }

  /// Waits until the connection has ended and its last call has returned.
  public func closed() async { try? await ended.futureResult.get() }

  /// Replaces the limits, for messages that arrive from now on.
  func use(_ limits: TransportLimits) {
    if !isClosed { onLoop { $0?.use(limits) } }
  }

  /// Answers new requests with `shuttingDown`, and ends the connection when nothing is in progress.
  func drain() {
    if !isClosed { onLoop { $0?.drain() } }
  }

  /// Reads no more, and keeps the requests that are not run from now on, for `handOver`.
  func beginHandOver() {
    if !isClosed { onLoop { $0?.beginHandOver() } }
  }

  /// Calls `body` once, with the program's handler when no request is in progress, or with `nil` when the connection has
  /// ended or the time is over; it is then closed. Runs on the event loop.
  func whenSettled(within time: Duration, _ body: @escaping @Sendable (_ handler: (any ConnectionHandler)?) -> Void) {
    guard let core = core.value else { return body(nil) }
    core.whenSettled(within: TimeAmount(time), body)
  }

  /// Takes the connection out of this process. Returns `nil` if it has ended or can't be continued elsewhere. Runs on the
  /// event loop.
  func pack(_ program: JSON) -> HandedConnection? {
    let (number, start) = (lastQuestion.load(ordering: .relaxed), peer.process?.start)
    return core.value?.pack(program: program, lastQuestion: number, processStart: start).map {
      HandedConnection(descriptor: $0.descriptor, state: $0.state)
    }
  }

  /// Schedules `body`, even when called on the event loop: messages sent while a request is accepted must follow
  /// its response.
  private func onLoop(_ body: @escaping @Sendable (ConnectionCore?) -> Void) {
    eventLoop.execute { [core] in body(core.value) }
  }
}
