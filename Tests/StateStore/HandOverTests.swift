import SDKProtocol
import Testing

@testable import StateStore

@Suite struct HandOverTests {
  private static let bytes = Array("the state of connections".utf8)

  @Test("What a process sealed opens in the next one, and in no later one")
  func opensOnce() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let sealed = try store.sealForNext(Self.bytes, machine: "this")
    #expect(!sealed.contains(subsequence: Self.bytes))
    #expect(store.openFromLast(sealed, machine: "this") == nil, "its own process is not the next one")
    // The next process has another master key to wrap with.
    _ = try await store.rotateKey()
    await store.close()
    let next = try await open(directory)
    #expect(next.openFromLast(sealed, machine: "this") == Self.bytes)
    #expect(next.openFromLast(sealed, machine: "other") == nil)
    for index in sealed.indices {
      var damaged = sealed
      damaged[index] ^= 1
      #expect(next.openFromLast(damaged, machine: "this") == nil)
    }
    for count in [0, 1, 27, 28, sealed.count - 1] {
      #expect(next.openFromLast(Array(sealed.prefix(count)), machine: "this") == nil)
    }
    await next.close()
    let later = try await open(directory)
    #expect(later.openFromLast(sealed, machine: "this") == nil, "a replayed state does not open")
    await later.close()
  }

  @Test("What was sealed for one state does not open in another")
  func otherState() async throws {
    let directories = try [TemporaryDirectory(), TemporaryDirectory()]
    let store = try await open(directories[0])
    let sealed = try store.sealForNext(Self.bytes, machine: "this")
    await store.close()
    try await open(directories[1]).close()
    let other = try await open(directories[1])
    #expect(other.openFromLast(sealed, machine: "this") == nil)
    await other.close()
  }
}

extension [UInt8] {
  fileprivate func contains(subsequence: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: subsequence) }
  }
}
