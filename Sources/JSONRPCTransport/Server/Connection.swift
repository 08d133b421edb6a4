public import JSONRPC
internal import NIOCore
internal import Synchronization

/// One connection, as the program sees it. All functions can be called from any thread.
public final class Connection: Sendable {
  /// A number that no other connection of this process has.
  public let id: UInt64
  /// Who is at the other end.
  public let peer: PeerCredentials
  /// What it shares with the other connections of its user; `nil` for one that has no such limits.
  public let allowance: Allowance?

  private let eventLoop: any EventLoop
  private let outbox: Outbox
  private let core: NIOLoopBoundBox<ConnectionCore?>
  private let ended: EventLoopPromise<Void>
  private let lastQuestion = Atomic<UInt64>(0)

  private static let lastID = Atomic<UInt64>(0)

  init(peer: PeerCredentials, allowance: Allowance? = nil, eventLoop: any EventLoop) {
    id = Self.lastID.add(1, ordering: .relaxed).newValue
    self.peer = peer
    self.allowance = allowance
    outbox = Outbox(allowance: allowance)
    self.eventLoop = eventLoop
    core = .makeEmptyBox(eventLoop: eventLoop)
    ended = eventLoop.makePromise()
  }

  /// Makes the inner side. To be called once, on the event loop; `lost()` of the core must follow some time.
  func makeCore(_ settings: ConnectionSettings) -> ConnectionCore {
    let core = ConnectionCore(
      eventLoop: eventLoop, settings: settings, outbox: outbox, allowance: allowance, ended: ended)
    self.core.value = core
    ended.futureResult.assumeIsolated().whenComplete { _ in self.core.value = nil }
    return core
  }

  /// Bytes that the peer has not taken yet: to see who reads too slowly.
  public var outboundBytes: Int { outbox.unsent }

  /// True when the connection has ended.
  public var isClosed: Bool { outbox.isClosed }

  /// Sends a notification.
  public func notify(method: String, params: JSON) {
    notify(text: RPCText.notification(method: method, params: params))
  }

  /// Sends a line that was made before, without its newline; nothing happens when the connection has ended.
  ///
  /// Lines of one thread keep their order.
  public func notify(text: [UInt8]) {
    if outbox.add(text) { onLoop { $0?.collect() } }
  }

  /// Calls `body` once, on the event loop, as soon as less than `bytes` are unsent or the connection has ended.
  public func whenWritable(below bytes: Int, _ body: @escaping @Sendable () -> Void) {
    if isClosed { return body() }
    onLoop { core in
      if let core { core.whenUnsent(below: bytes, body) } else { body() }
    }
  }

  /// Asks the peer and waits for its answer.
  ///
  /// When the waiting task is cancelled or the time is over, the peer gets `$/cancelRequest` and this returns
  /// at once. The ids (`"d1"`, `"d2"` …) are apart from those of the peer's own requests.
  ///
  /// - Parameter timeout: how long to wait; `nil` for as long as the connection lasts.
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

  /// Waits until the connection has ended and its last call has returned.
  public func closed() async { try? await ended.futureResult.get() }

  /// Puts other limits in force, for what comes from now on.
  func use(_ limits: TransportLimits) {
    if !isClosed { onLoop { $0?.use(limits) } }
  }

  /// Answers new requests with `shuttingDown` and ends when nothing is in progress.
  func drain() {
    if !isClosed { onLoop { $0?.drain() } }
  }

  /// Never inline, even on the loop: what is sent in the middle of something follows it.
  private func onLoop(_ body: @escaping @Sendable (ConnectionCore?) -> Void) {
    eventLoop.execute { [core] in body(core.value) }
  }
}
