import SDKProtocol
import Synchronization
import Testing

@testable import SDKInstances

struct DeadlinesTests {
  private final class Timer: DeadlineTimer {
    let armed = Mutex<[Double?]>([])
    func arm(at time: Timestamp?) { armed.withLock { $0.append(time?.secondsSince1970) } }
    var last: Double?? { armed.withLock { $0.last } }
  }

  private let clock = ManualClock()
  private let done = Records<String>()

  private func deadlines() -> (Deadlines, Timer) {
    let timer = Timer()
    return (Deadlines(clock: clock.wall, timer: timer), timer)
  }

  private func set(_ deadlines: Deadlines, _ key: String, at seconds: Double?) {
    deadlines.set(key, at: seconds.map { ManualClock.start + $0 }) { [done] in done.add(key) }
  }

  private func at(_ seconds: Double) -> Double? { (ManualClock.start + seconds).secondsSince1970 }

  @Test func `What is due is done once, in the order of the times`() {
    let (deadlines, timer) = deadlines()
    set(deadlines, "b", at: 20)
    set(deadlines, "a", at: 10)
    set(deadlines, "c", at: 30)
    #expect(timer.last == .some(at(10)))
    deadlines.wake()
    #expect(done.all == [])
    clock.advance(25)
    deadlines.wake()
    deadlines.wake()
    #expect(done.all == ["a", "b"])
    #expect(timer.last == .some(at(30)))
    clock.advance(5)
    deadlines.wake()
    #expect(done.all == ["a", "b", "c"])
    #expect(timer.last == .some(nil))
  }

  @Test func `A moved deadline counts where it is now`() {
    let (deadlines, timer) = deadlines()
    set(deadlines, "a", at: 10)
    set(deadlines, "a", at: 50)
    #expect(timer.last == .some(at(50)))
    clock.advance(20)
    deadlines.wake()
    #expect(done.all == [])
    set(deadlines, "a", at: 15)
    deadlines.wake()
    #expect(done.all == ["a"])
    clock.advance(100)
    deadlines.wake()
    #expect(done.all == ["a"])
  }

  @Test func `A deadline that was taken away is not done`() {
    let (deadlines, timer) = deadlines()
    set(deadlines, "a", at: 10)
    set(deadlines, "a", at: nil)
    #expect(timer.last == .some(nil))
    clock.advance(20)
    deadlines.wake()
    #expect(done.all == [])
  }

  @Test func `Many moves leave nothing behind`() {
    let (deadlines, _) = deadlines()
    for round in 0..<1000 { for key in ["a", "b", "c"] { set(deadlines, key, at: Double(1000 - round)) } }
    clock.advance(1)
    deadlines.wake()
    #expect(done.all == ["a", "b", "c"])
    clock.advance(5000)
    deadlines.wake()
    #expect(done.all.count == 3)
  }

  @Test func `Work may set its own next deadline`() {
    let (deadlines, timer) = deadlines()
    deadlines.set("a", at: ManualClock.start + 1) { [done, deadlines] in
      done.add("first")
      deadlines.set("a", at: ManualClock.start + 2) { done.add("second") }
    }
    clock.advance(1)
    deadlines.wake()
    #expect(timer.last == .some(at(2)))
    clock.advance(1)
    deadlines.wake()
    #expect(done.all == ["first", "second"])
  }
}
