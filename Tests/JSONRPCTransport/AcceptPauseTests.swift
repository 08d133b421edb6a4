import Glibc
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import JSONRPCTransport

struct AcceptPauseTests {
  private final class Switch: Sendable {
    let isOn = Atomic(true)
  }

  private let channel = EmbeddedChannel()
  private let mayGoOn = Switch()

  init() throws {
    try channel.pipeline.syncOperations.addHandler(
      AcceptPauseHandler { [mayGoOn] in mayGoOn.isOn.load(ordering: .relaxed) })
  }

  /// The value of `autoRead` that was set last; `nil` if it was not set.
  private var isReading: Bool? { channel.options.last?.value as? Bool }

  private func fail(_ error: any Error) { channel.pipeline.fireErrorCaught(error) }

  @Test func withoutDescriptorsItPausesOnce() {
    for _ in 0..<3 { fail(IOError(errnoCode: EMFILE, reason: "accept")) }
    #expect(isReading == false)
    channel.embeddedEventLoop.advanceTime(by: AcceptPauseHandler.pause)
    #expect(isReading == true)
    fail(IOError(errnoCode: EMFILE, reason: "accept"))
    #expect(isReading == false)
  }

  @Test func itDoesNotGoOnWhenAcceptingHasStopped() {
    fail(IOError(errnoCode: ENFILE, reason: "accept"))
    mayGoOn.isOn.store(false, ordering: .relaxed)
    channel.embeddedEventLoop.advanceTime(by: AcceptPauseHandler.pause)
    #expect(isReading == false)
  }

  @Test func aConnectionThatFailedDoesNotStopIt() {
    fail(UnknownPeerError())
    #expect(isReading == nil)
  }
}
