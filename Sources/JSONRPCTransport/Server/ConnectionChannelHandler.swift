internal import Glibc
internal import NIOCore

/// A connection's wire on a NIO channel: cuts lines, holds the time limits, and stops reading from a peer that
/// doesn't read.
final class ConnectionChannelHandler: ChannelDuplexHandler, Wire {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let core: ConnectionCore
  private let limits: TransportLimits
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

  private var frameDeadline: NIODeadline?
  private var frameTimer: Scheduled<Void>?
  private var writeTimer: Scheduled<Void>?
  private var lastProgress = NIODeadline.uptimeNanoseconds(0)

  /// How long a connection that we end lets the peer read why.
  private static let lingering = TimeAmount.seconds(1)

  init(core: ConnectionCore) {
    self.core = core
    limits = core.settings.limits
    framer = LineFramer(limit: limits.maxFrameBytes)
    discardable = limits.maxFrameBytes
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
    framer.append(bytes.readableBytesView)
    pump()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    core.flush()
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if core.isBlocked, !isBroken { hasWithheldRead = true } else { context.read() }
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
    guard !isPumping else { return }
    isPumping = true
    defer { isPumping = false }
    while !core.isLost, !isBroken, !core.isBlocked {
      switch framer.next() {
      case .frame(let line)?:
        core.receive(line)
        core.flushIfLarge()
        frameDeadline = nil
      case .tooLarge?:
        isBroken = true
        core.receiveTooLarge()
      case nil:
        if isInputClosed { core.inputEnded() } else { watchFrame() }
        return
      }
    }
    if core.isBlocked { watchWriting() }
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
      context.close(promise: nil)
    } else {
      watchFrame()
    }
  }

  // MARK: Output

  func send(_ lines: ByteBuffer) {
    guard let context else { return }
    let home = NIOLoopBound(self, eventLoop: context.eventLoop)
    let count = lines.readableBytes
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
    guard hasWithheldRead, !core.isBlocked, !core.isLost else { return }
    hasWithheldRead = false
    context.read()
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
    guard let context, core.outbox.unsent > 0, core.isBlocked || isInputClosed || isBroken else { return }
    if context.eventLoop.now - lastProgress >= TimeAmount(limits.writeTimeout) {
      context.close(promise: nil)
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

  private func end() {
    guard context != nil else { return }
    context = nil
    frameTimer?.cancel()
    writeTimer?.cancel()
    core.lost()
  }
}
