import JSONRPC
import Randomness
import Testing

@testable import JSONRPCTransport

struct ConnectionStateTests {
  private func id(_ number: Int) -> RPCID { .number(JSONNumber(number)) }

  private func some<R>(_ value: R?) throws -> R { try #require(value) }

  private func state(inFlight: Int = 2, queued: Int = 100) -> ConnectionState<String> {
    ConnectionState(limits: TransportLimits(maxInFlight: inFlight, maxQueuedBytes: queued))
  }

  @Test func runsAsManyAsMayAndThenTheNextInOrder() throws {
    var state = state()
    let first = try some(state.enter("a", id: id(1), bytes: 10, destination: .single))
    #expect(first.call == "a")
    let second = state.enter("b", id: id(2), bytes: 10, destination: .single)
    let third = state.enter("c", id: id(3), bytes: 10, destination: .single)
    let fourth = state.enter("d", id: id(4), bytes: 10, destination: .single)
    #expect(second != nil && third == nil && fourth == nil)
    #expect(state.runningCount == 2)
    #expect(state.queuedBytes == 20)
    let (departure, next) = try some(state.finish(first.ticket))
    #expect(departure.id == id(1))
    #expect(next?.call == "c")
    #expect(state.queuedBytes == 10)
    let again = state.finish(first.ticket)
    #expect(again == nil)
  }

  @Test("A notification takes no id, and its end frees none")
  func notifications() throws {
    var state = state(inFlight: 3)
    let first = try some(state.enter("a", id: .null, bytes: 1, destination: .discarded))
    #expect(state.refuses(.null, bytes: 1) == nil)
    let request = try some(state.enter("b", id: .null, bytes: 1, destination: .single))
    let second = state.enter("c", id: .null, bytes: 1, destination: .discarded)
    #expect(second != nil)
    let ended = try some(state.finish(first.ticket))
    #expect(ended.departure.destination == .discarded)
    #expect(state.refuses(.null, bytes: 1)?.code == -32600)
    _ = state.finish(request.ticket)
    #expect(state.refuses(.null, bytes: 1) == nil)
  }

  @Test func refusesAnIDInProgressAndTakesItAgainAfterwards() throws {
    var state = state()
    let start = try some(state.enter("a", id: .string("x"), bytes: 1, destination: .single))
    #expect(state.refuses(.string("x"), bytes: 1)?.code == -32600)
    #expect(state.refuses(.string("y"), bytes: 1) == nil)
    _ = state.finish(start.ticket)
    #expect(state.refuses(.string("x"), bytes: 1) == nil)
  }

  @Test func tellsIDsApartByTheirSpelling() throws {
    var state = state()
    _ = state.enter("a", id: .string("1"), bytes: 1, destination: .single)
    #expect(state.refuses(id(1), bytes: 1) == nil)
    #expect(state.refuses(.null, bytes: 1) == nil)
  }

  @Test func refusesWhatIsNeitherRunNorQueued() {
    var state = state(inFlight: 1, queued: 100)
    _ = state.enter("a", id: id(1), bytes: 500, destination: .single)
    #expect(state.refuses(id(2), bytes: 100) == nil)
    _ = state.enter("b", id: id(2), bytes: 60, destination: .single)
    #expect(state.refuses(id(3), bytes: 41) == .tooManyInFlight)
    #expect(state.refuses(id(3), bytes: 40) == nil)
    #expect(RPCError.tooManyInFlight.isRetryable)
  }

  @Test func cancelsWhatWaitsAndNamesWhatRuns() throws {
    var state = state(inFlight: 1)
    let start = try some(state.enter("a", id: id(1), bytes: 1, destination: .single))
    _ = state.enter("b", id: id(2), bytes: 10, destination: .single)
    guard case .waiting(let departure) = state.cancel(id(2)) else { throw NotInTime(description: "waiting") }
    #expect(departure.call == "b")
    #expect(state.queuedBytes == 0)
    guard case .running(let ticket) = state.cancel(id(1)) else { throw NotInTime(description: "running") }
    #expect(ticket == start.ticket)
    guard case .unknown = state.cancel(id(2)) else { throw NotInTime(description: "unknown") }
    let finished = try some(state.finish(ticket))
    #expect(finished.next == nil)
    #expect(state.isIdle)
  }

  @Test func drainsByRefusingNewOnesOnly() throws {
    var state = state(inFlight: 1)
    let start = try some(state.enter("a", id: id(1), bytes: 1, destination: .single))
    _ = state.enter("b", id: id(2), bytes: 1, destination: .single)
    state.drain()
    #expect(state.refuses(id(3), bytes: 1) == .shuttingDown)
    let finished = try some(state.finish(start.ticket))
    #expect(finished.next?.call == "b")
  }

  @Test func givesOutAllThatWaits() throws {
    var state = state(inFlight: 1)
    for number in 1...4 { _ = state.enter("\(number)", id: id(number), bytes: 1, destination: .single) }
    _ = state.cancel(id(3))
    let waiting = state.removeWaiting()
    #expect(waiting.map(\.call) == ["2", "4"])
    #expect(state.queuedBytes == 0)
    #expect(state.count == 1)
  }

  @Test func answersABatchWhenItsLastMemberHasAnswered() throws {
    var state = state()
    let destination = state.batches.open(expected: 2)
    guard case .batch(let number) = destination else { throw NotInTime(description: "batch") }
    let incomplete = state.batches.add([1], from: "a", to: number)
    #expect(incomplete == nil)
    #expect(!state.isIdle)
    let complete = try some(state.batches.add([2], from: nil, to: number))
    #expect(complete.texts == [[1], [2]])
    #expect(complete.calls == ["a"])
    #expect(state.isIdle)
  }

  @Test func forgetsABatchThatExpectsNothing() {
    var state = state()
    _ = state.batches.open(expected: 0)
    #expect(state.isIdle)
  }

  /// In any order of entries, ends and cancellations, the limits hold, no call is lost and none leaves twice.
  @Test func keepsItsBooksInAnyOrder() {
    var random = SeededGenerator(seed: 3)
    var state = state(inFlight: 3, queued: 50)
    var running: [ConnectionState<String>.Ticket] = []
    var inside: Set<String> = []
    for step in 0..<20_000 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0...1:
        let number = Int.random(in: 0..<40, using: &random)
        let bytes = Int.random(in: 1...20, using: &random)
        guard state.refuses(id(number), bytes: bytes) == nil else { continue }
        let isNew = inside.insert("\(number)").inserted
        #expect(isNew)
        if let start = state.enter("\(number)", id: id(number), bytes: bytes, destination: .single) {
          running.append(start.ticket)
        }
      case 2...3:
        guard let index = running.indices.randomElement(using: &random) else { continue }
        guard let (departure, next) = state.finish(running.remove(at: index)) else {
          Issue.record("lost at step \(step)")
          return
        }
        let wasInside = inside.remove(departure.call) != nil
        #expect(wasInside)
        if let next { running.append(next.ticket) }
      default:
        if case .waiting(let departure) = state.cancel(id(Int.random(in: 0..<40, using: &random))) {
          let wasInside = inside.remove(departure.call) != nil
          #expect(wasInside)
        }
      }
      #expect(state.count == inside.count)
      #expect(state.runningCount == running.count && running.count <= 3)
      #expect(state.queuedBytes <= 50)
      #expect(state.count > state.runningCount || state.queuedBytes == 0)
    }
  }
}

extension ConnectionState {
  /// `refusal(of:bytes:)`, which `#expect` can't call because it is `mutating`.
  fileprivate func refuses(_ id: RPCID, bytes: Int) -> RPCError? {
    var state = self
    return state.refusal(of: id, bytes: bytes)
  }
}
