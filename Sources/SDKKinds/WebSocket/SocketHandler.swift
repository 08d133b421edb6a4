import NIOCore
import NIOWebSocket
import SDKInstances

/// The handler of a WebSocket on its event loop: messages, pings, closing, and all limits.
final class SocketHandler: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = Never
  typealias OutboundOut = WebSocketFrame

  private enum Phase {
    case open
    /// The close frame was sent, and the peer's is awaited.
    case closing
    case closed
  }

  private var limits: SocketLimits
  private var assembler: MessageAssembler
  private var inbox: SocketInbox
  private var context: ChannelHandlerContext?
  private var phase = Phase.open
  /// Whether reading is paused until the consumer takes messages.
  private var hasWithheldRead = false

  private var unsentBytes = 0
  private var lastProgress = NIODeadline.uptimeNanoseconds(0)
  private var isPonging = false
  /// The payload of the latest ping that came while a pong was being written.
  private var owedPong: ByteBuffer?

  private var pings: UInt64 = 0
  private var expectedPong: ByteBuffer?
  private var pingTimer: Scheduled<Void>?
  private var closeTimer: Scheduled<Void>?

  init(limits: SocketLimits) {
    self.limits = limits
    assembler = MessageAssembler(limit: limits.message)
    inbox = SocketInbox(limits: limits)
  }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { schedulePing(context) } else { end() }
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard case .open = phase else { return }
    switch error {
    case NIOWebSocketError.invalidFrameLength: fail(.messageTooLarge, .tooLarge)
    case is NIOWebSocketError: fail(.protocolError, .network("the server sent a malformed frame"))
    default:
      inbox.finish(.failure(HTTPFailure(socket: error)))
      context.close(promise: nil)
    }
  }

  func read(context: ChannelHandlerContext) {
    if case .open = phase, inbox.isFull { hasWithheldRead = true } else { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .closed = phase { return }
    let frame = Self.unwrapInboundIn(data)
    if case .open = phase, !isInBudget(frame, at: context.eventLoop.now) {
      inbox.finish(.failure(.network("the server sends more frames than one connection may")))
      // At once: until the server's close frame, more of its frames would have to be read.
      return startClosing(.policyViolation, thenClose: true)
    }
    let piece = assembler.take(frame)
    if case .closing = phase {
      if case .close = piece { context.close(promise: nil) }
      return
    }
    switch piece {
    case .none: break
    case .text(let text): inbox.add(text)
    case .ping(let payload): pong(payload)
    case .pong(let payload): if payload == expectedPong { expectedPong = nil }
    case .close(let code):
      inbox.finish(.success(nil))
      startClosing(code ?? .normalClosure, thenClose: true)
    case .broken(let code, let failure): fail(code, failure)
    }
  }

  /// Whether the server may send this frame now.
  private func isInBudget(_ frame: WebSocketFrame, at now: NIODeadline) -> Bool {
    let isControl = frame.opcode == .ping || frame.opcode == .pong
    return limits.frames.take(at: now) && limits.kibibytes.take(Double(frame.length) / 1024, at: now)
      && (!isControl || limits.controlFrames.take(at: now))
  }

  // MARK: The consumer

  func take(_ turn: Turn<String?>) {
    inbox.take(turn)
    guard hasWithheldRead, inbox.isReady, let context else { return }
    // The expected pong may be among the data that was not read.
    expectedPong = nil
    hasWithheldRead = false
    context.read()
  }

  func send(_ text: String, _ turn: Turn<Void>) {
    guard !turn.isOver else { return }
    guard case .open = phase, let context else {
      return _ = turn.resolve(.failure(.network("the connection is closed")))
    }
    let bytes = ByteBuffer(string: text)
    let count = bytes.readableBytes
    guard count <= limits.unsentBytes - unsentBytes else {
      return _ = turn.resolve(.failure(.network("more waits to be sent than we keep")))
    }
    if unsentBytes == 0 { lastProgress = context.eventLoop.now }
    unsentBytes += count
    write(.text, bytes) { handler, result in
      handler.unsentBytes -= count
      if let context = handler.context { handler.lastProgress = context.eventLoop.now }
      turn.resolve(result.mapError { HTTPFailure(socket: $0) })
    }
  }

  /// Closes the connection with a close frame, and drops the messages that wait for the consumer.
  func close() {
    inbox.finish(.success(nil))
    inbox.discard()
    if case .open = phase { startClosing(.normalClosure) }
  }

  // MARK: Frames of our own

  private func write(
    _ opcode: WebSocketOpcode, _ data: ByteBuffer,
    then done: @escaping (SocketHandler, Result<Void, any Error>) -> Void = { _, _ in }
  ) {
    guard let context else { return done(self, .failure(ChannelError.ioOnClosedChannel)) }
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { done(self, $0) }
    context.writeAndFlush(Self.wrapOutboundOut(frame), promise: promise)
  }

  /// Answers a ping. While a pong is being written only the latest ping is kept, as RFC 6455 5.5.3 allows. A peer that
  /// pings without reading must not fill our memory.
  private func pong(_ payload: ByteBuffer) {
    guard !isPonging else { return owedPong = payload }
    isPonging = true
    write(.pong, payload) { handler, _ in
      handler.isPonging = false
      guard let owed = handler.owedPong else { return }
      handler.owedPong = nil
      if case .open = handler.phase { handler.pong(owed) }
    }
  }

  private func schedulePing(_ context: ChannelHandlerContext) {
    let home = NIOLoopBound(self, eventLoop: context.eventLoop)
    pingTimer = context.eventLoop.scheduleTask(in: limits.pingInterval) { home.value.pingTimerFired() }
  }

  private func pingTimerFired() {
    guard case .open = phase, let context else { return }
    if unsentBytes > 0, context.eventLoop.now - lastProgress >= limits.pingInterval {
      return lose("the server does not read")
    }
    if expectedPong != nil { return lose("the server does not answer pings") }
    // The pong could not be seen while reads are paused.
    if !hasWithheldRead {
      pings &+= 1
      let payload = ByteBuffer(integer: pings)
      expectedPong = payload
      write(.ping, payload)
    }
    schedulePing(context)
  }

  // MARK: The end

  private func lose(_ words: String) {
    inbox.finish(.failure(.network(words)))
    context?.close(promise: nil)
  }

  /// Ends the connection because of what the peer sent, and sends the peer a close frame with the code.
  private func fail(_ code: WebSocketErrorCode, _ failure: HTTPFailure) {
    inbox.finish(.failure(failure))
    startClosing(code)
  }

  /// Sends a close frame and waits for the peer's, up to the limit `closing`. Reading resumes, or else the answer would
  /// not be seen.
  private func startClosing(_ code: WebSocketErrorCode, thenClose: Bool = false) {
    guard case .open = phase, let context else { return }
    phase = .closing
    pingTimer?.cancel()
    let home = NIOLoopBound(context, eventLoop: context.eventLoop)
    closeTimer = context.eventLoop.scheduleTask(in: limits.closing) { home.value.close(promise: nil) }
    var payload = ByteBuffer()
    payload.write(webSocketErrorCode: code)
    write(.connectionClose, payload) { handler, _ in
      if thenClose { handler.context?.close(promise: nil) }
    }
    guard hasWithheldRead else { return }
    hasWithheldRead = false
    context.read()
  }

  private func end() {
    guard context != nil else { return }
    context = nil
    phase = .closed
    pingTimer?.cancel()
    closeTimer?.cancel()
    inbox.finish(.failure(.network("the connection broke")))
  }
}
