internal import Glibc
internal import NIOCore

/// A connection's wire on a NIO channel. It splits lines, enforces the time limits, and stops reading from a peer that
/// doesn't read.
final class ConnectionChannelHandler: ChannelDuplexHandler, Wire {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let core: ConnectionCore
  private var limits: TransportLimits { core.settings.limits }
  private var framer: LineFramer
  private var context: ChannelHandlerContext?
  /// Whether a read is withheld until the peer takes its responses or a pause ends.
  private var hasWithheldRead = false
  private var isInputClosed = false
  private var hasCutInput = false
  private var isBroken = false
  private var isClosing = false
  private var discardable: Int
  private var isPumping = false
  /// Whether the peer has disconnected. Messages that it sent before still run, as far as the user's message rate
  /// allows.
  private var isGone = false
  /// Whether reading and handling are paused: between two turns, while a long message is parsed, or because the user
  /// exceeds the message rate.
  private var isResting = false

  private var frameDeadline: NIODeadline?
  private var frameTimer: Scheduled<Void>?
  private var writeTimer: Scheduled<Void>?
  private var lastProgress = NIODeadline.uptimeNanoseconds(0)

  /// The number of messages that a connection handles before the event loop serves others.
  private static let messagesPerTurn = 16
  /// The longest single pause for exceeding the message rate, in nanoseconds.
  private static let longestPause: UInt64 = 1_000_000_000
  /// The shortest pause that lets the event loop serve the other sockets.
  private static let turn = TimeAmount.microseconds(20)
  /// The number of bytes above which a message is parsed off the event loop. Shorter ones take little time, at about
  /// 100 ns for each value.
  private static let longMessage = 4 << 10
  /// The time in which the peer can still read the error after we end the connection.
  private static let lingering = TimeAmount.seconds(1)

  init(core: ConnectionCore) {
    self.core = core
    framer = LineFramer(limit: core.settings.limits.maxFrameBytes)
    discardable = core.settings.limits.maxFrameBytes
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
    if isBroken {
      discardable -= bytes.readableBytes
      if discardable < 0 { context.close(promise: nil) }
      return
    }
    if framer.limit > 0 { framer.use(limit: limits.maxFrameBytes) }
    framer.append(bytes.readableBytesView)
    // `channelReadComplete` follows and flushes.
    core.isReading = true
    pump()
    core.isReading = false
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    core.flush()
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if core.isBlocked || isResting, !isBroken { hasWithheldRead = true } else { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      isInputClosed = true
      // After `endInput` the last line may be cut short, so it must not count as complete.
      if !hasCutInput { framer.finish() }
      watchWriting()
      if isClosing { context.close(promise: nil) } else { pump() }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Passes whole lines to the core while the peer takes its responses.
  private func pump() {
    guard !isPumping, !isResting else { return }
    isPumping = true
    defer {
      isPumping = false
      // A response that can't be written may have shown during the loop that the peer is gone.
      if isGone, !isResting { core.lost() }
      core.keep(pending: framer.pendingBytes)
    }
    var seen = 0
    while !core.isLost, !isBroken, isGone || !core.isBlocked {
      if seen >= Self.messagesPerTurn { return rest(for: Self.turn) }
      switch framer.next() {
      case .frame(let line)? where line.count > Self.longMessage: return receiveApart(line)
      case .frame(let line)?:
        let count = core.receive(line)
        seen += count
        core.flushIfLarge()
        frameDeadline = nil
        if let pause = pause(afterMessages: count, bytes: line.count) {
          return isGone ? core.lost() : rest(for: pause)
        }
      case .tooLarge?:
        isBroken = true
        core.receiveTooLarge()
      case nil where framer.pendingBytes > limits.smallFrameBytes && core.allowance?.isCrowded == true:
        isBroken = true
        framer = LineFramer(limit: 0)
        core.receiveTooMuch()
      case nil:
        if isGone { return core.lost() }
        if isInputClosed { core.inputEnded() } else { watchFrame() }
        return
      }
    }
    if isGone { core.lost() } else if core.isBlocked { watchWriting() }
  }

  /// Has a long message parsed on another thread, so that the other connections of the event loop don't wait for it.
  private func receiveApart(_ line: ArraySlice<UInt8>) {
    isResting = true
    frameDeadline = nil
    let home = NIOLoopBound(self, eventLoop: core.eventLoop)
    core.receiveApart(line) { home.value.goOn(afterMessages: $0, bytes: line.count) }
  }

  private func goOn(afterMessages count: Int, bytes: Int) {
    guard let pause = pause(afterMessages: count, bytes: bytes) else { return goOn() }
    if isGone { core.lost() } else { rest(for: pause) }
  }

  /// Counts messages for the user's rate. Returns how long to pause the connection; `nil` for no pause.
  private func pause(afterMessages count: Int, bytes: Int) -> TimeAmount? {
    guard let allowance = core.allowance else { return nil }
    let wait = allowance.paceAfter(messages: count, bytes: bytes, at: core.eventLoop.now.uptimeNanoseconds)
    return wait == 0 ? nil : .nanoseconds(Int64(clamping: min(wait, Self.longestPause)))
  }

  /// Pauses the connection for at least one turn of the event loop, then continues.
  private func rest(for time: TimeAmount) {
    guard !core.isLost else { return }
    isResting = true
    core.flush()
    let home = NIOLoopBound(self, eventLoop: core.eventLoop)
    // A task that is due at once would run before the event loop serves other sockets.
    core.eventLoop.scheduleTask(in: max(time, Self.turn)) { home.value.goOn() }
  }

  private func goOn() {
    isResting = false
    pump()
    readWithheld()
  }

  private func readWithheld() {
    guard let context, hasWithheldRead, !isResting, !core.isBlocked, !core.isLost else { return }
    hasWithheldRead = false
    context.read()
  }

  /// Starts the timer that closes the connection if the unfinished line takes longer than `frameTimeout`. One timer
  /// serves many lines.
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
    guard let context, let frameDeadline, !isInputClosed, !isBroken else { return }
    // While reading is stopped because of unsent bytes, the peer can't finish the line.
    if core.isBlocked {
      self.frameDeadline = nil
    } else if context.eventLoop.now >= frameDeadline {
      giveUp(context)
    } else {
      watchFrame()
    }
  }

  // MARK: Output

  func send(_ lines: ByteBuffer) {
    let count = lines.readableBytes
    // The channel is closed, so the bytes are dropped.
    guard let context else { return core.sent(count) }
    let home = NIOLoopBound(self, eventLoop: context.eventLoop)
    if core.outbox.unsent == count { lastProgress = context.eventLoop.now }
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { result in
      if case .success = result { home.value.sent(count) }
    }
    context.writeAndFlush(Self.wrapOutboundOut(lines), promise: promise)
    if core.isBlocked || isInputClosed || isBroken { watchWriting() }
  }

  private func sent(_ count: Int) {
    guard let context else { return }
    lastProgress = context.eventLoop.now
    core.sent(count)
    guard core.outbox.unsent <= limits.maxOutboundBytes / 2 else { return }
    if framer.pendingBytes > 0 || isInputClosed { pump() }
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
    guard let context, core.outbox.unsent > 0, core.isBlocked || isInputClosed || isBroken else { return }
    if context.eventLoop.now - lastProgress >= TimeAmount(limits.writeTimeout) {
      giveUp(context)
    } else {
      watchWriting()
    }
  }

  // MARK: The end

  func endInput() {
    guard let context, !isInputClosed else { return }
    hasCutInput = true
    // Not NIO's `close(mode: .input)`, which would drop bytes that the kernel has received already.
    try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { descriptor in
      _ = shutdown(descriptor, CInt(SHUT_RD))
    }
    if hasWithheldRead, !core.isBlocked { context.read() }
  }

  func close() {
    guard let context, !isClosing else { return }
    isClosing = true
    // The kernel resets a connection that is closed with unread bytes, and the peer may still be sending. It gets time
    // to read the error first.
    guard isBroken, !isInputClosed else { return context.close(promise: nil) }
    context.close(mode: .output, promise: nil)
    let home = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.lingering) { home.value.close(promise: nil) }
  }

  /// Closes the connection after a timeout.
  private func giveUp(_ context: ChannelHandlerContext) {
    isClosing = true
    context.close(promise: nil)
  }

  private func end() {
    guard context != nil else { return }
    context = nil
    frameTimer?.cancel()
    writeTimer?.cancel()
    guard !isClosing, !isBroken else { return core.lost() }
    isGone = true
    // If this runs inside `pump()`, that loop continues by itself. During a pause `pump()` does nothing, and is called
    // again at its end.
    if !isPumping { pump() }
  }
}
