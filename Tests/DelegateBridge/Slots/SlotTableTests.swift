import Randomness
import Testing

@testable import DelegateBridge

@Suite struct SlotTableTests {
  private func request(
    _ id: Int, of instance: Int, named name: String? = nil, owner: UInt32 = 0, concurrency: Int = 1
  ) -> SlotRequest {
    let key = BridgeKey.numbered(instance)
    return SlotRequest(
      id: id, key: key, name: name ?? key.instance, owner: .uid(owner), concurrency: concurrency)
  }

  private let limits = SlotLimits(concurrent: 3, running: 6, runningPerOwner: 3)

  /// Returns a table in which a run of each of these instances has succeeded.
  private func table(_ limits: SlotLimits, healthy: Range<Int> = 0..<0) -> SlotTable {
    var table = SlotTable(limits: limits)
    for instance in healthy {
      _ = table.request(request(-instance - 1, of: instance))
      _ = table.finish(-instance - 1, succeeded: true)
    }
    return table
  }

  @Test func startsWhileThereAreSlots() {
    var table = table(limits, healthy: 0..<4)
    #expect(table.request(request(1, of: 0)) == .init(started: [1]))
    #expect(table.request(request(2, of: 1)) == .init(started: [2]))
    #expect(table.request(request(3, of: 2, owner: 1)) == .init(started: [3]))
    #expect(table.request(request(4, of: 3, owner: 1)) == .init())
    #expect(table.waitingCount == 1)
    #expect(table.finish(2, succeeded: true) == .init(started: [4]))
    #expect(table.finish(2, succeeded: true) == .init(), "a second end changes nothing")
  }

  @Test func lastSlotIsKeptForWhoAnsweredBefore() {
    var table = table(limits, healthy: 9..<10)
    #expect(table.request(request(1, of: 0)).started == [1])
    #expect(table.request(request(2, of: 1)).started == [2])
    #expect(table.request(request(3, of: 2, owner: 1)).started == [])
    #expect(table.request(request(4, of: 9, owner: 1)).started == [4])
    #expect(table.finish(4, succeeded: false).started == [])
    #expect(table.request(request(5, of: 9, owner: 1)).started == [], "its last run failed")
    #expect(table.finish(1, succeeded: nil).started == [3], "the longest waiting is next")
  }

  @Test func singleSlotIsKeptForNobody() {
    var table = SlotTable(limits: SlotLimits(concurrent: 1))
    #expect(table.request(request(1, of: 0)).started == [1])
  }

  @Test func turnsGoRoundTheInstances() {
    var table = table(SlotLimits(concurrent: 1))
    #expect(table.request(request(0, of: 100)).started == [0])
    for id in 1...3 { _ = table.request(request(id, of: 1, concurrency: 9)) }
    for id in 4...5 { _ = table.request(request(id, of: 2, concurrency: 9)) }
    _ = table.request(request(6, of: 3, concurrency: 9))
    var order: [Int] = []
    var next = 0
    while let started = table.finish(next, succeeded: true).started.first {
      order.append(started)
      next = started
    }
    #expect(order == [1, 4, 6, 2, 5, 3])
  }

  @Test func instanceRunsNoMoreThanItsProviderAllows() {
    var table = table(SlotLimits(), healthy: 0..<1)
    #expect(table.request(request(1, of: 0, concurrency: 2)).started == [1])
    #expect(table.request(request(2, of: 0, concurrency: 2)).started == [2])
    #expect(table.request(request(3, of: 0, concurrency: 2)).started == [])
    #expect(table.markLong(1).started == [], "a long run still is one of the instance's")
    #expect(table.request(request(4, of: 5)).started == [4], "others need not wait for it")
    #expect(table.finish(1, succeeded: true).started == [3])
  }

  @Test func longRunsGiveTheirSlotBack() {
    var table = table(SlotLimits(concurrent: 2, running: 10, runningPerOwner: 10), healthy: 0..<5)
    _ = table.request(request(1, of: 0))
    _ = table.request(request(2, of: 1))
    #expect(table.request(request(3, of: 2)).started == [])
    #expect(table.markLong(1).started == [3])
    #expect(table.markLong(1) == .init(), "once only")
    #expect((table.slotCount, table.longCount) == (2, 1))
    _ = table.finish(1, succeeded: false)
    #expect((table.slotCount, table.longCount) == (2, 0))
  }

  @Test("An owner over its share uses all room but that of another's share")
  func theRoomOfAnOwner() {
    var table = table(SlotLimits(concurrent: 20, running: 8, runningPerOwner: 2))
    for id in 1...6 { #expect(table.request(request(id, of: id, owner: 7)).started == [id]) }
    #expect(table.request(request(7, of: 7, owner: 7)) == .init())
    for id in 1...5 { #expect(table.markLong(id) == .init()) }
    #expect(table.markLong(6) == .init(refused: [7]), "a run need not wait for hanging ones")
    #expect(table.request(request(8, of: 8, owner: 7)) == .init(refused: [8]))
    for id in 9...10 { #expect(table.request(request(id, of: id, owner: 8)).started == [id]) }
    #expect(table.request(request(11, of: 11, owner: 8)) == .init(), "it is over its share now, too")
    _ = table.finish(1, succeeded: false)
    #expect(table.request(request(12, of: 12, owner: 9)).started == [12])
  }

  @Test("An owner within its share is served before one over it")
  func sharesComeFirst() {
    var table = table(SlotLimits(concurrent: 2, running: 20, runningPerOwner: 1), healthy: 0..<9)
    for id in 1...2 { #expect(table.request(request(id, of: id, owner: 7)).started == [id]) }
    #expect(table.request(request(3, of: 3, owner: 7)).started == [])
    #expect(table.request(request(4, of: 4, owner: 8)).started == [])
    #expect(table.finish(1, succeeded: true).started == [4], "although it came later")
    #expect(table.finish(2, succeeded: true).started == [3])
  }

  @Test("Among owners over their share the one with the fewest runs is next")
  func fewestRunsFirst() {
    var table = table(SlotLimits(concurrent: 5, running: 20, runningPerOwner: 1), healthy: 0..<12)
    for id in 1...3 { #expect(table.request(request(id, of: id, owner: 7)).started == [id]) }
    for id in 4...5 { #expect(table.request(request(id, of: id, owner: 8)).started == [id]) }
    #expect(table.request(request(6, of: 6, owner: 7)).started == [])
    #expect(table.request(request(7, of: 7, owner: 8)).started == [])
    #expect(table.finish(1, succeeded: true).started == [6])
    #expect(table.finish(2, succeeded: true).started == [7])
  }

  @Test("A run that waits for another of its own instance holds up no owner")
  func waitingForItself() {
    var table = table(SlotLimits(concurrent: 8, running: 20, runningPerOwner: 1))
    #expect(table.request(request(1, of: 1, owner: 8)).started == [1])
    _ = table.request(request(2, of: 1, owner: 8))
    _ = table.request(request(3, of: 3, owner: 9, concurrency: 1))
    _ = table.request(request(4, of: 3, owner: 9, concurrency: 1))
    for id in 5...7 { #expect(table.request(request(id, of: id, owner: 7)).started == [id]) }
  }

  @Test func instancesOfOneNameRunOneAfterTheOther() {
    var table = table(SlotLimits(concurrent: 8))
    #expect(table.request(request(1, of: 1, named: "desk")).started == [1])
    #expect(table.request(request(2, of: 2, named: "desk", owner: 9)).started == [])
    #expect(table.request(request(3, of: 3, named: "other")).started == [3])
    #expect(table.markLong(1).started == [])
    #expect(table.finish(1, succeeded: nil).started == [2])
  }

  @Test func instancesOfFilesCountForThemselvesAndLeaveRoom() {
    var table = table(SlotLimits(concurrent: 20, running: 8, runningPerOwner: 2))
    func request(file number: Int) -> SlotRequest {
      let key = BridgeKey.numbered(number)
      return SlotRequest(
        id: number, key: key, name: key.instance, owner: .file(instance: key.instance), concurrency: 1)
    }
    for number in 1...6 { #expect(table.request(request(file: number)).started == [number]) }
    #expect(table.request(request(file: 7)) == .init(), "a quarter is for others")
    for number in 1...5 { #expect(table.markLong(number) == .init()) }
    #expect(table.markLong(6) == .init(refused: [7]))
    #expect(table.request(request(file: 8)) == .init(refused: [8]))
    #expect(table.request(self.request(20, of: 20, owner: 1)).started == [20])
    #expect(table.finish(1, succeeded: false) == .init())
    #expect(table.request(request(file: 9)).started == [9])
  }

  @Test func totalOfLongRunsIsBounded() {
    var table = table(SlotLimits(concurrent: 4, running: 5, runningPerOwner: 5))
    for id in 1...5 {
      #expect(table.request(request(id, of: id, owner: UInt32(id))).started == [id])
      _ = table.markLong(id)
    }
    #expect(table.request(request(6, of: 6, owner: 6)) == .init(refused: [6]))
  }

  @Test func whoLeavesTheQueueIsForgotten() {
    var table = table(SlotLimits(concurrent: 1))
    _ = table.request(request(1, of: 0))
    _ = table.request(request(2, of: 1))
    _ = table.request(request(3, of: 2))
    table.withdraw(2, of: "instance-1")
    table.withdraw(2, of: "instance-1")
    table.withdraw(1, of: "instance-0")
    #expect(table.finish(1, succeeded: true).started == [3])
    #expect(table.waitingCount == 0)
  }

  /// In any order of events, the limits hold and no run waits that could start.
  @Test(arguments: 0..<20) func limitsHoldAtRandom(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = SlotTable(limits: limits)
    var running: [Int: (instance: Int, owner: UInt32)] = [:]
    var long: Set<Int> = []
    var waiting: [Int: (instance: Int, owner: UInt32)] = [:]
    func take(_ changes: SlotTable.Changes) {
      for id in changes.started { running[id] = waiting.removeValue(forKey: id) }
      for id in changes.refused { waiting[id] = nil }
    }
    for id in 0..<600 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let instance = Int.random(in: 0..<9, using: &random)
        waiting[id] = (instance, UInt32(instance % 3))
        take(table.request(request(id, of: instance, owner: UInt32(instance % 3), concurrency: 2)))
      case 5..<7:
        guard let id = running.keys.sorted().randomElement(using: &random) else { continue }
        running[id] = nil
        long.remove(id)
        take(table.finish(id, succeeded: Bool.random(using: &random)))
      case 7..<9:
        guard let id = running.keys.sorted().randomElement(using: &random) else { continue }
        long.insert(id)
        take(table.markLong(id))
      default:
        guard let id = waiting.keys.sorted().randomElement(using: &random), let who = waiting.removeValue(forKey: id)
        else { continue }
        table.withdraw(id, of: "instance-\(who.instance)")
      }
      #expect(table.slotCount == running.count - long.count && table.slotCount <= 3)
      #expect(table.longCount == long.count && running.count <= 6)
      #expect(table.waitingCount == waiting.count)
      for (instance, owner) in waiting.values where running.values.count(where: { $0.instance == instance }) < 2 {
        let isWithinShare = running.values.count { $0.owner == owner } < 3
        #expect(table.slotCount >= 2 || running.count >= (isWithinShare ? 6 : 5), "nobody waits while there is room")
      }
    }
    for id in running.keys.sorted() { take(table.finish(id, succeeded: true)) }
    while let id = running.keys.sorted().first(where: { _ in true }) {
      running[id] = nil
      take(table.finish(id, succeeded: true))
    }
    #expect(table.waitingCount == 0 && table.slotCount == 0)
  }

  @Test(
    "With many waiting runs each request and each end looks at few of them",
    arguments: [false, true], [false, true])
  func looksAtFew(haveSucceeded: Bool, haveOneOwner: Bool) {
    let looks = [200, 2000].map { count in
      var table = table(
        SlotLimits(concurrent: 8, running: 16, runningPerOwner: 4), healthy: haveSucceeded ? 0..<count : 0..<0)
      let before = table.looks
      var running = Set<Int>()
      var done = 0
      for id in 0..<count {
        running.formUnion(table.request(request(id, of: id, owner: haveOneOwner ? 0 : UInt32(id))).started)
      }
      while let id = running.popFirst() {
        done += 1
        running.formUnion(table.finish(id, succeeded: true).started)
      }
      #expect(done == count)
      return (table.looks - before) / count
    }
    #expect(looks[1] <= looks[0] + 1, "\(looks)")
  }
}
