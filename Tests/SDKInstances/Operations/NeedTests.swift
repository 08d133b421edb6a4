import Testing

@testable import SDKInstances

struct NeedTests {
  @Test func `Work that is needed runs to its end`() async {
    #expect(await Need().run { 7 } == 7)
  }

  @Test func `Work is cancelled when the need ends, before or after it began`() async throws {
    let need = Need()
    let begun = Gate()
    async let result = need.run { () async -> Bool in
      begun.open()
      while !Task.isCancelled { await Task.yield() }
      return Task.isCancelled
    }
    await begun.wait()
    need.end()
    #expect(await result == true)
    #expect(await need.run { Task.isCancelled } != nil)
  }
}
