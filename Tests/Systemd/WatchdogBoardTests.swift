import Dispatch
import Synchronization
import Testing

@testable import Systemd

/// The watchdog's record of requests and responses, and the monitor that uses it.
@Suite struct WatchdogBoardTests {
  @Test func `Whoever has answered is asked anew, and a silent one is not asked twice`() {
    var board = WatchdogBoard(count: 2)
    let first = board.ask(at: .seconds(1))
    #expect(first.map(\.index) == [0, 1])
    board.answer(0, first[0].ticket)
    #expect(board.silence(at: .seconds(3)) == [.zero, .seconds(2)])
    #expect(board.ask(at: .seconds(4)).map(\.index) == [0])
    #expect(board.silence(at: .seconds(9)) == [.seconds(5), .seconds(8)])
    board.answer(1, first[1].ticket)
    #expect(board.silence(at: .seconds(9)) == [.seconds(5), .zero])
  }

  @Test func `A late answer to an earlier question answers no later one`() {
    var board = WatchdogBoard(count: 1)
    let first = board.ask(at: .zero)[0]
    board.answer(0, first.ticket)
    _ = board.ask(at: .seconds(1))
    board.answer(0, first.ticket)
    #expect(board.silence(at: .seconds(2)) == [.seconds(1)])
  }

  @Test func `A silent part has no keep-alive sent, and one with an excuse has`() throws {
    let rounds = RecordedRounds()
    let monitor = WatchdogMonitor(
      probes: [
        .init("answers") { $0() }, .init("excused", excuse: { _ in true }) { _ in }, .init("silent") { _ in },
      ], period: .milliseconds(5)
    ) { rounds.add($0.map(\.name)) }
    try monitor.start()
    #expect(rounds.first() == ["silent"])
    monitor.stop()
  }
}

/// A recorder of the rounds of a monitor: the names of the silent parts in each.
private final class RecordedRounds: Sendable {
  private let names = Mutex<[[String]]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func add(_ round: [String]) {
    names.withLock { $0.append(round) }
    arrived.signal()
  }

  func first() -> [String]? {
    arrived.wait()
    return names.withLock { $0.first }
  }
}
