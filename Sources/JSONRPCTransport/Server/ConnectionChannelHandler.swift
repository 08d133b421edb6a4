internal import DequeModule
internal import Glibc
internal import JSONRPC
internal import NIOCore

/// A connection's wire on a NIO channel. It splits messages, enforces the time limits, and stops reading from a peer
/// that doesn't read.
final class ConnectionChannelHandler: ChannelDuplexHandler, Wire {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The state of the handling of messages.
  private enum Work {
    case idle, running
    /// A pause in reading and handling: between two turns, while a long message is parsed, or because the user exceeds
    /// the message rate.
    case resting
  }

  private let core: ConnectionCore
  private var limits: TransportLimits { core.settings.limits }
  private var framer: Framer
  private var context: ChannelHandlerContext?
  private var phase = ConnectionPhase.open
  private var work = Work.idle
  /// Whether a read is withheld until the peer takes its responses or a pause ends.
  private var hasWithheldRead = false

  private var frameDeadline: NIODeadline?
  private var frameTimer: Scheduled<Void>?
  private var writeTimer: Scheduled<Void>?
  private var lastProgress = NIODeadline.uptimeNanoseconds(0)
  /// The number of bytes that the channel was given and is not known to have sent.
  private var given = 0
  /// The size of the output that was written without a promise and is not known to be sent; 0 if there is none.
  private var unconfirmed = 0
  /// The output that is not known to be sent.
  private var written: Deque<ByteBuffer> = []

  /// The number of messages that a connection handles before the event loop serves others.
  private static let messagesPerTurn = 16
  /// The longest single pause for exceeding the message rate, in nanoseconds.
  private static let longestPause: UInt64 = 1_000_000_000
  /// The shortest pause that lets the event loop serve the other sockets.
  private static let turn = TimeAmount.microseconds(20)
  /// The number of bytes above which a message is parsed off the event loop. Shorter ones take little time, at about
  /// 100 ns for each value.
  private static let longMessage = 4 << 10
  /// The largest output, in bytes, that is written without a promise. A promise takes longer than the rest of a write.
  private static let shortOutput = 4 << 10
  /// The time in which the peer can still read the error after we end the connection.
  private static let lingering = TimeAmount.seconds(1)

  init(core: ConnectionCore) {
    self.core = core
    framer = Framer(limit: core.settings.limits.maxFrameBytes)
  }

  /// Makes the handler of a connection that another process has handed over. It handles nothing until `begin`.
  init(core: ConnectionCore, input: [UInt8]) {
    self.core = core
    framer = Framer(limit: core.settings.limits.maxFrameBytes, framing: core.framing)
    framer.append(input)
    work = .resting
  }

  /// Begins to handle messages: first the requests that another process has not run.
  func begin(repeating handed: ConnectionHandOver) {
    guard !core.isLost else { return }
    core.repeatRequests(handed)
    core.flush()
    goOn()
    core.endIfDone()
  }

  // MARK: Input

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The connection can't be used after an error.
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Self.unwrapInboundIn(data)
    if let hasRoom = phase.drop(bytes.readableBytes) {
      if !hasRoom { context.close(promise: nil) }
      return
    }
    framer.use(limit: limits.maxFrameBytes)
    bytes.withUnsafeReadableBytes { framer.append($0) }
    if core.framing == nil, let framing = framer.framing { core.use(framing) }
    // `channelReadComplete` follows and flushes.
    core.isReading = true
    pump()
    core.isReading = false
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // No other handler wants the event.
    core.flush()
  }

  func read(context: ChannelHandlerContext) {
    let isHeldUp = phase.handlesMessages && (core.isBlocked || work == .resting || core.kept != nil)
    if isHeldUp { hasWithheldRead = true } else { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { inputClosed(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private func inputClosed(_ context: ChannelHandlerContext) {
    switch phase {
    case .closing: return context.close(promise: nil)
    case .gone: return
    case .open: framer.finish()
    // After `endInput` the last message may be cut short, so it must not count as complete. The framer of a refused
    // peer has no more messages.
    case .cut, .inputEnded, .refusing: break
    }
    phase = .inputEnded
    watchWriting()
    pump()
  }

  /// Passes whole messages to the core while the peer takes its responses.
  private func pump() {
    guard work == .idle else { return }
    work = .running
    defer {
      if work == .running {
        work = .idle
        // A response that can't be written may have shown during the loop that the peer is gone.
        if phase.isGone { core.lost() }
      }
      core.keep(pending: framer.pendingBytes)
    }
    var seen = 0
    while !core.isLost, phase.handlesMessages, phase.isGone || !core.isBlocked && core.kept == nil {
      if seen >= Self.messagesPerTurn { return rest(for: Self.turn) }
      let pending = framer.pendingBytes
      switch framer.next() {
      case .frame(let text)? where text.count > Self.longMessage:
        return receiveApart(text, bytes: pending - framer.pendingBytes, skipped: framer.skippedLines)
      case .frame(let text)?:
        let count = core.receive(text)
        seen += count
        core.flushIfLarge()
        frameDeadline = nil
        if let pause = pause(afterMessages: count + framer.skippedLines, bytes: pending - framer.pendingBytes) {
          return phase.isGone ? core.lost() : rest(for: pause)
        }
      case .tooLarge?: refuse(.frameTooLarge(limit: limits.maxFrameBytes))
      case .malformed(let message)?: refuse(.invalidRequest(message))
      case .foreign(let message)?: refuse(.foreignProtocol(message))
      case nil where framer.pendingBytes > limits.smallFrameBytes && core.allowance?.isCrowded == true:
        refuse(.tooManyBytesOfUser)
      case nil:
        switch phase {
        case .gone: core.lost()
        case .inputEnded: core.inputEnded()
        case .open, .cut, .refusing, .closing:
          watchFrame()
          let lines = framer.skippedLines
          if lines > 0, let pause = pause(afterMessages: lines, bytes: pending - framer.pendingBytes) {
            rest(for: pause)
          }
        }
        return
      }
    }
    if phase.isGone { core.lost() } else if core.isBlocked { watchWriting() }
  }

  /// Has a long message parsed on another thread, so that the other connections of the event loop don't wait for it.
  private func receiveApart(_ text: ArraySlice<UInt8>, bytes: Int, skipped: Int) {
    work = .resting
    frameDeadline = nil
    let home = NIOLoopBound(self, eventLoop: core.eventLoop)
    core.receiveApart(text) { home.value.goOn(afterMessages: $0 + skipped, bytes: bytes) }
  }

  /// Answers with an error, and handles nothing that the peer sends from now on. The connection ends when all is
  /// answered.
  private func refuse(_ error: RPCError) {
    // A peer that has ended its output sends nothing that would have to be dropped.
    if phase.takesInput { phase = .refusing(room: limits.maxFrameBytes) }
    framer.discard()
    core.receiveRefused(error)
  }

  private func goOn(afterMessages count: Int, bytes: Int) {
    guard let pause = pause(afterMessages: count, bytes: bytes) else { return goOn() }
    if phase.isGone { core.lost() } else { rest(for: pause) }
  }

  /// Counts messages for the user's rate. Returns how long to pause the connection; `nil` for no pause.
  private func pause(afterMessages count: Int, bytes: Int) -> TimeAmount? {
    guard let allowance = core.allowance else { return nil }
    // A read can contain 65,536 blank lines. At most one second's allowance, or a batch, is counted at once, so that
    // the user's other connections need not wait for more than this pause.
    let count = min(count, max(64, allowance.limits.messagesPerSecond))
    let wait = allowance.paceAfter(messages: count, bytes: bytes, at: core.eventLoop.now.uptimeNanoseconds)
    return wait == 0 ? nil : .nanoseconds(Int64(clamping: min(wait, Self.longestPause)))
  }

  /// Pauses the connection for at least one turn of the event loop, then continues.
  private func rest(for time: TimeAmount) {
    guard !core.isLost else { return }
    work = .resting
    core.isPaused = time > Self.turn
    core.flush()
    let home = NIOLoopBound(self, eventLoop: core.eventLoop)
    // A task that is due at once would run before the event loop serves other sockets.
    let due = core.eventLoop.now + max(time, Self.turn)
    core.eventLoop.scheduleTask(deadline: due) { home.value.goOn(due: due) }
  }

  private func goOn(due: NIODeadline) {
    let lag = core.eventLoop.now - due
    core.allowance?.noteLag(UInt64(clamping: lag.nanoseconds))
    goOn()
  }

  private func goOn() {
    work = .idle
    core.isPaused = false
    pump()
    readWithheld()
  }

  private func readWithheld() {
    guard let context, hasWithheldRead, work != .resting, !core.isBlocked, !core.isLost, core.kept == nil else {
      return
    }
    hasWithheldRead = false
    // The peer could not finish a message while nothing was read.
    if frameDeadline != nil {
      frameDeadline = nil
      watchFrame()
    }
    context.read()
  }

  /// Starts the timer that closes the connection if the unfinished message takes longer than `frameTimeout`. One timer
  /// serves many messages.
  private func watchFrame() {
    guard let context, framer.pendingBytes > 0 else {
      frameDeadline = nil
      return
    }
    if frameDeadline == nil { frameDeadline = context.eventLoop.now + TimeAmount(limits.frameTimeout) }
    guard frameTimer == nil, let frameDeadline else { return }
    let home = NIOLoopBound(self, eventLoop: context.eventLoop)
    frameTimer = context.eventLoop.scheduleTask(deadline: frameDeadline) { home.value.frameTimerFired() }
  }

  private func frameTimerFired() {
    frameTimer = nil
    guard let context, let frameDeadline, phase.takesInput else { return }
    // While reading is stopped because of unsent bytes, the peer can't finish the message.
    if core.isBlocked {
      self.frameDeadline = nil
    } else if context.eventLoop.now >= frameDeadline {
      if framer.framing == .headers { refuse(.unfinishedFrame) } else { closeNow(context) }
    } else {
      watchFrame()
    }
  }

  // MARK: Output

  func send(_ messages: ByteBuffer) {
    let count = messages.readableBytes
    // The channel is closed, so the bytes are dropped.
    guard let context else { return core.sent(count) }
    let isAlone = given == 0
    given += count
    if isAlone { lastProgress = context.eventLoop.now }
    if isAlone, count <= Self.shortOutput {
      unconfirmed = count
      context.writeAndFlush(NIOAny(messages), promise: nil)
      if unconfirmed > 0 { written.append(messages) }
    } else {
      written.append(messages)
      let home = NIOLoopBound(self, eventLoop: context.eventLoop)
      let promise = context.eventLoop.makePromise(of: Void.self)
      promise.futureResult.assumeIsolated().whenComplete { result in
        if case .success = result { home.value.sent(count) }
      }
      context.writeAndFlush(NIOAny(messages), promise: promise)
    }
    if core.isBlocked || !phase.takesInput { watchWriting() }
  }

  /// The channel is writable when the kernel has all bytes: see `writeBufferWaterMark` where the channel is made.
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    // No other handler wants the event.
    guard unconfirmed > 0, context.channel.isWritable else { return }
    let count = unconfirmed
    unconfirmed = 0
    sent(count)
  }

  private func sent(_ count: Int) {
    guard let context else { return }
    lastProgress = context.eventLoop.now
    given -= count
    _ = written.popFirst()
    core.sent(count)
    guard core.outbox.unsent <= limits.maxOutboundBytes / 2 else { return }
    if framer.pendingBytes > 0 || !phase.takesInput { pump() }
    readWithheld()
  }

  /// Starts the timer that closes the connection if the peer takes no bytes for `writeTimeout` while we wait for it.
  private func watchWriting() {
    guard let context, writeTimer == nil, core.outbox.unsent > 0 else { return }
    let deadline = lastProgress + TimeAmount(limits.writeTimeout)
    let home = NIOLoopBound(self, eventLoop: context.eventLoop)
    writeTimer = context.eventLoop.scheduleTask(deadline: deadline) { home.value.writeTimerFired() }
  }

  private func writeTimerFired() {
    writeTimer = nil
    // The user's other connections may have freed buffers.
    readWithheld()
    guard let context, core.outbox.unsent > 0, core.isBlocked || !phase.takesInput else { return }
    if context.eventLoop.now - lastProgress >= TimeAmount(limits.writeTimeout) {
      closeNow(context)
    } else {
      watchWriting()
    }
  }

  // MARK: The end

  func endInput() {
    guard let context, case .open = phase else { return }
    phase = .cut
    // Not NIO's `close(mode: .input)`, which would drop bytes that the kernel has received already.
    try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { descriptor in
      _ = shutdown(descriptor, CInt(SHUT_RD))
    }
    if hasWithheldRead, !core.isBlocked { context.read() }
  }

  func close() {
    guard let context else { return }
    switch phase {
    case .closing: break
    case .refusing(let room):
      phase = .closing(room: room)
      // The kernel resets a connection that is closed with unread bytes, and the peer may still be sending. It gets
      // time to read the error first.
      context.close(mode: .output, promise: nil)
      let home = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: Self.lingering) { home.value.close(promise: nil) }
    case .open, .cut, .inputEnded, .gone: closeNow(context)
    }
  }

  func abort() {
    // Without a channel, what the peer has left behind is dropped.
    if let context { closeNow(context) } else { core.lost() }
  }

  func detach() -> DetachedWire? {
    guard let context else { return nil }
    switch phase {
    case .open, .inputEnded: break
    case .cut, .refusing, .closing, .gone: return nil
    }
    let pipeline = context.pipeline.syncOperations
    let copy = try? pipeline.withUnsafeTransportIfAvailable(of: CInt.self) { fcntl($0, F_DUPFD_CLOEXEC, 64) }
    guard let descriptor = copy, descriptor >= 0,
      let buffered = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
    else {
      if let copy, copy >= 0 { Glibc.close(copy) }
      return nil
    }
    var unsent = ByteBuffer()
    for messages in written { unsent.writeImmutableBuffer(messages) }
    // The kernel takes bytes in order.
    unsent.moveReaderIndex(to: max(unsent.readerIndex, unsent.writerIndex - buffered))
    let input = Array(framer.pending)
    self.context = nil
    frameTimer?.cancel()
    writeTimer?.cancel()
    phase = .closing(room: 0)
    context.close(promise: nil)
    return DetachedWire(descriptor: descriptor, input: input, unsent: unsent)
  }

  /// Closes the connection at once.
  private func closeNow(_ context: ChannelHandlerContext) {
    phase = .closing(room: 0)
    context.close(promise: nil)
  }

  private func end() {
    guard context != nil else { return }
    context = nil
    frameTimer?.cancel()
    writeTimer?.cancel()
    guard phase.handlesMessages else { return core.lost() }
    phase = .gone
    // If this runs inside `pump()`, that loop continues by itself. During a pause `pump()` does nothing, and is called
    // again at its end.
    pump()
  }
}
