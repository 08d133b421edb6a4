import Foundation
import Synchronization
import Testing

@testable import SDKInstances

struct ResolvedNamesTests {
  /// A name service whose look-ups block until the test releases them.
  private final class SlowService: Sendable {
    private let numbers: Mutex<[String: NameService.Answer]>
    private let gate = DispatchSemaphore(value: 0)
    let asked = Records<String>()

    init(_ numbers: [String: NameService.Answer]) { self.numbers = Mutex(numbers) }

    func set(_ name: String, _ answer: NameService.Answer) { numbers.withLock { $0[name] = answer } }

    /// Releases `count` look-ups.
    func answer(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

    func lookUp(_ name: SystemName) -> NameService.Answer {
      asked.add(name.text)
      gate.wait()
      return numbers.withLock { $0[name.text] ?? .unknown }
    }
  }

  private func names(_ service: SlowService) -> ResolvedNames {
    ResolvedNames(lookUp: { service.lookUp($0) }, start: { body in Thread.detachNewThread { body() } })
  }

  private func users(_ names: String...) -> Set<SystemName> { Set(names.map { SystemName(.users, $0) }) }

  @Test func `A name that is not resolved yet has no number, and asking for it waits for nothing`() async throws {
    let service = SlowService(["alice": .number(1000)])
    let table = names(service)
    table.request(users("alice"), for: 7)
    try await eventually("it is looked up") { service.asked.count == 1 }
    #expect(table.uid(ofUser: "alice") == nil)
    #expect(table.gid(ofGroup: "alice") == nil)
    service.answer()
    try await eventually("it is resolved") { table.uid(ofUser: "alice") == 1000 }
    #expect(table.gid(ofGroup: "alice") == nil)
    table.request(users("alice"), for: 8)
    await table.settle(within: .seconds(60))
    #expect(service.asked.count == 1, "a known name is not looked up for another instance")
  }

  @Test func `A refresh takes new numbers over, and keeps the former one while the service fails`() async throws {
    let service = SlowService(["alice": .number(1000), "bob": .number(1001)])
    let table = names(service)
    service.answer(100)
    table.request(users("alice", "bob"), for: 7)
    await table.settle(within: .seconds(60))
    #expect(table.uid(ofUser: "alice") == 1000)
    service.set("alice", .failed)
    service.set("bob", .unknown)
    table.refresh([7: users("alice", "bob")])
    await table.settle(within: .seconds(60))
    #expect(table.uid(ofUser: "alice") == 1000)
    #expect(table.uid(ofUser: "bob") == nil)
    service.set("alice", .number(2000))
    table.refresh([7: users("alice", "bob")])
    await table.settle(within: .seconds(60))
    #expect(table.uid(ofUser: "alice") == 2000)
  }

  @Test func `A name that is in no rule any more is forgotten`() async throws {
    let service = SlowService(["alice": .number(1000), "bob": .number(1001)])
    let table = names(service)
    service.answer(100)
    table.request(users("alice", "bob"), for: 7)
    for _ in 0..<2 {
      table.refresh([7: users("bob")])
      await table.settle(within: .seconds(60))
    }
    #expect(table.uid(ofUser: "alice") == nil)
    #expect(table.uid(ofUser: "bob") == 1001)
  }

  @Test func `Few look-ups run at a time, and settling gives up on those that hang`() async throws {
    let service = SlowService([:])
    let table = names(service)
    table.request(Set((0..<100).map { SystemName(.users, "n\($0)") }), for: 7)
    try await eventually("four look-ups have begun") { service.asked.count == 4 }
    await table.settle(within: .milliseconds(1))
    #expect(service.asked.count == 4)
    service.answer(100)
    await table.settle(within: .seconds(60))
    #expect(service.asked.count == 100)
  }

  @Test func `A thread that can't be started leaves the names for the next refresh`() async throws {
    struct NoThread: Error {}
    let isPossible = Mutex(false)
    let service = SlowService(["alice": .number(1000)])
    service.answer(100)
    let table = ResolvedNames(
      lookUp: { service.lookUp($0) },
      start: { body in
        guard isPossible.withLock({ $0 }) else { throw NoThread() }
        Thread.detachNewThread { body() }
      })
    table.request(users("alice"), for: 7)
    await table.settle(within: .seconds(60))
    #expect(table.uid(ofUser: "alice") == nil)
    isPossible.withLock { $0 = true }
    table.refresh([7: users("alice")])
    await table.settle(within: .seconds(60))
    #expect(table.uid(ofUser: "alice") == 1000)
  }
}
