internal import Glibc
internal import NIOCore

/// A connection's wire on a NIO channel: cuts lines, holds the time limits, and stops reading from a peer that
/// doesn't read.
final class ConnectionChannelHandler: ChannelDuplexHandler, Wire {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let core: ConnectionCore
  private var limits: TransportLimits { core.settings.limits }
  private var framer: LineFramer
  private var context: ChannelHandlerContext?
  /// A read that waits for the peer to take its answers.
  private var hasWithheldRead = false
  private var isInputClosed = false
  private var hasCutInput = false
  private var isBroken = false
  private var isClosing = false
  private var discardable: Int
  private var isPumping = false
  /// The peer is gone: what it has sent is still run, as far as its user has messages left.
  private var isGone = false
  /// Between two turns, or because its user asks for too much: nothing is read or looked at.
  private var isResting = false

  private var frameDeadline: NIODeadline?
  private var frameTimer: Scheduled<Void>?
  private var writeTimer: Scheduled<Void>?
  private var lastProgress = NIODeadline.uptimeNanoseconds(0)

  /// How many messages of a connection are looked at before others have their turn.
  private static let messagesPerTurn = 16
  /// No user's debt makes a connection wait longer than this at a time, in nanoseconds.
  private static let longestPause: UInt64 = 1_000_000_000
  /// The shortest rest that lets the event loop look at the other sockets.
  private static let turn = TimeAmount.microseconds(20)
  /// More bytes than this are parsed away from the event loop: at a hundred nanoseconds for each value these are done
  /// in a moment.
  private static let longMessage = 4 << 10
  /// How long a connection that we end lets the peer read why.
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
    // The peer is gone, or as good as.
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
    pump()
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
      // A line that we have cut is none.
      if !hasCutInput { framer.finish() }
      watchWriting()
      if isClosing { context.close(promise: nil) } else { pump() }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Hands on whole lines while the peer takes its answers.
  private func pump() {
    guard !isPumping, !isResting else { return }
    isPumping = true
    defer {
      isPumping = false
      // The peer may have gone in the middle of it, found by an answer that could not be written.
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

  /// A long message is parsed elsewhere, so that the other connections of the event loop need not wait for it.
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

  /// How long the connection rests because its user asks for too much; `nil` for not at all.
  private func pause(afterMessages count: Int, bytes: Int) -> TimeAmount? {
    guard let allowance = core.allowance else { return nil }
    let wait = allowance.paceAfter(messages: count, bytes: bytes, at: core.eventLoop.now.uptimeNanoseconds)
    return wait == 0 ? nil : .nanoseconds(Int64(clamping: min(wait, Self.longestPause)))
  }

  /// Lets the others have their turn, and goes on.
  private func rest(for time: TimeAmount) {
    guard !core.isLost else { return }
    isResting = true
    core.flush()
    let home = NIOLoopBound(self, eventLoop: core.eventLoop)
    // A task that is due at once would run before the event loop looks at other sockets.
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

  /// Sees to it that an unfinished line ends in time. One timer serves many lines.
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
    // What waits because the peer doesn't read is not late.
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
    // Nobody is there to take it.
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

  /// Closes the connection of a peer that has not taken anything for too long while we wait for it.
  private func watchWriting() {
    guard let context, writeTimer == nil, core.outbox.unsent > 0 else { return }
    let deadline = lastProgress + TimeAmount(limits.writeTimeout)
    let home = NIOLoopBound(self, eventLoop: context.eventLoop)
    writeTimer = context.eventLoop.scheduleTask(deadline: deadline) { home.value.writeTimerFired() }
  }

  private func writeTimerFired() {
    writeTimer = nil
    // Its user's other connections may have made room.
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
    // Not NIO's `close(mode: .input)`, which would drop what the kernel has received already.
    try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { descriptor in
      _ = shutdown(descriptor, CInt(SHUT_RD))
    }
    if hasWithheldRead, !core.isBlocked { context.read() }
  }

  func close() {
    guard let context, !isClosing else { return }
    isClosing = true
    // The kernel resets a connection that is closed with bytes unread, and the peer may be in the middle of
    // sending them: it gets a moment to read the answer.
    guard isBroken, !isInputClosed else { return context.close(promise: nil) }
    context.close(mode: .output, promise: nil)
    let home = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.lingering) { home.value.close(promise: nil) }
  }

  /// Its time is over.
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
    // Else it goes on after the rest.
    if !isPumping { pump() }
  }
}
