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

  /// A directory whose subordinate uids a test sets.
  private func names(_ service: SlowService, file: FileText) -> ResolvedNames {
    ResolvedNames(
      readSubordinates: { file.text.withLock { $0.map { Array($0.utf8) } } }, lookUp: { service.lookUp($0) },
      start: { body in Thread.detachNewThread { body() } })
  }

  private final class FileText: Sendable {
    let text: Mutex<String?>
    init(_ text: String) { self.text = Mutex(text) }
  }

  @Test func `A subordinate uid counts for the owner of its range, and one with an account for itself`() async throws {
    let service = SlowService(["alice": .number(1000), "100005": .number(100_005), "200005": .failed])
    service.answer(1000)
    let file = FileText("alice:100000:10\n1001:200000:10\ngone:300000:10\n")
    let table = names(service, file: file)
    func user(_ uid: UInt32) async -> UInt32 {
      _ = table.user(of: uid)
      await table.settle(within: .seconds(60))
      return table.user(of: uid)
    }
    for (uid, expected) in [
      (0, 0), (1000, 1000), (99_999, 99_999), (100_000, 1000), (100_009, 1000), (100_010, 100_010),
      (100_005, 100_005), (200_001, 1001), (200_005, 1001), (300_001, 300_000), (300_009, 300_000),
    ] as [(UInt32, UInt32)] {
      #expect(await user(uid) == expected, "\(uid)")
    }
    // The file is read again at a refresh. What can't be read changes nothing.
    file.text.withLock { $0 = nil }
    table.refresh([:])
    await table.settle(within: .seconds(60))
    #expect(await user(100_000) == 1000)
    file.text.withLock { $0 = "" }
    table.refresh([:])
    await table.settle(within: .seconds(60))
    #expect(await user(100_000) == 100_000)
  }

  @Test func `Until it is resolved, a subordinate uid counts for the first uid of its range`() async throws {
    let service = SlowService(["alice": .number(1000)])
    let table = names(service, file: FileText("alice:100000:65536\n"))
    for uid in [100_000, 100_001, 165_535] as [UInt32] { #expect(table.user(of: uid) == 100_000) }
    service.answer(100)
    await table.settle(within: .seconds(60))
    for uid in [100_000, 100_001, 165_535] as [UInt32] { #expect(table.user(of: uid) == 1000) }
  }

  @Test func `The observer is called after numbers have changed, and not for the same ones`() async throws {
    let service = SlowService(["alice": .number(1000)])
    service.answer(100)
    let table = names(service)
    let calls = Records<UInt32?>()
    table.observe { [weak table] in calls.add(table?.uid(ofUser: "alice")) }
    table.request(users("alice", "bob"), for: 7)
    await table.settle(within: .seconds(60))
    #expect(calls.all == [1000])
    table.refresh([7: users("alice", "bob")])
    await table.settle(within: .seconds(60))
    #expect(calls.all == [1000])
    service.set("alice", .number(2000))
    table.refresh([7: users("alice", "bob")])
    await table.settle(within: .seconds(60))
    #expect(calls.all == [1000, 2000])
  }
}
