import Testing

@testable import SDKInstances

struct NameQueueTests {
  private func name(_ text: String) -> SystemName { SystemName(.users, text) }

  @Test func `Owners take turns, so that many names of one delay another's few by one each`() {
    var queue = NameQueue()
    for number in 0..<1000 { queue.add(name("many-\(number)"), for: 1) }
    queue.add(name("few-0"), for: 2)
    queue.add(name("few-1"), for: 2)
    let first = (0..<4).map { _ in queue.next()?.text }
    #expect(first == ["many-0", "few-0", "many-1", "few-1"])
    var rest = 0
    while queue.next() != nil { rest += 1 }
    #expect(rest == 998)
    #expect(queue.isEmpty)
  }

  @Test func `A name waits once, and an owner has a bounded number`() {
    var queue = NameQueue(maximumPerOwner: 2)
    let isAdded = [("a", 1), ("a", 2), ("b", 1), ("c", 1), ("c", 2)].map { queue.add(name($0.0), for: $0.1) }
    #expect(isAdded == [true, true, true, false, true])
    let order = (0..<4).map { _ in queue.next()?.text }
    #expect(order == ["a", "c", "b", nil])
  }

  @Test func `Names are equal when their bytes are`() {
    #expect(name("\u{E9}") != name("e\u{301}"))
    #expect(Set([name("\u{E9}"), name("e\u{301}"), SystemName(.groups, "\u{E9}")]).count == 3)
    #expect(name("a") == name("a"))
  }
}
