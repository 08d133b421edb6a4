import SDKProtocol
import Testing

@testable import DelegateBridge

@Suite struct ProviderSlotsTests {
  private func slots(_ limits: SlotLimits) -> ProviderSlots { ProviderSlots(limits: limits, clock: ContinuousClock()) }

  @Test func waitEndsWithTheDeadline() async throws {
    let slots = slots(SlotLimits(concurrent: 1))
    _ = try await slots.acquire(.numbered(1), name: "1", owner: 0, concurrency: 1, patience: .seconds(60))
    let error = await failure { () async throws(SDKError) in
      try await slots.acquire(.numbered(2), name: "2", owner: 0, concurrency: 1, patience: .milliseconds(20))
    }
    #expect(error?.reason == .providerBackoff)
    #expect(error?.retryAfter != nil)
    #expect(slots.counts.waiting == 0)
  }

  @Test func cancelledWaiterLeavesTheQueue() async throws {
    let slots = slots(SlotLimits(concurrent: 1))
    let first = try await slots.acquire(.numbered(1), name: "1", owner: 0, concurrency: 1, patience: .seconds(60))
    await withTaskGroup(of: SDKError?.self) { group in
      group.addTask {
        await failure { () async throws(SDKError) in
          try await slots.acquire(.numbered(2), name: "2", owner: 0, concurrency: 1, patience: .seconds(60))
        }
      }
      #expect(await eventually { slots.counts.waiting == 1 })
      group.cancelAll()
      #expect(await group.next()??.reason == .shuttingDown)
    }
    #expect(slots.counts.waiting == 0)
    slots.finish(first, succeeded: true)
    #expect(slots.counts == (0, 0, 0))
  }

  @Test func cancelledBeforeItWaits() async throws {
    let slots = slots(SlotLimits(concurrent: 1))
    await withTaskGroup(of: SDKError?.self) { group in
      group.cancelAll()
      group.addTask {
        await failure { () async throws(SDKError) in
          try await slots.acquire(.numbered(2), name: "2", owner: 0, concurrency: 1, patience: .seconds(60))
        }
      }
      #expect(await group.next()??.reason == .shuttingDown)
    }
    #expect(slots.counts == (0, 0, 0))
  }

  @Test func nextOneIsLetInWhenARunEnds() async throws {
    let slots = slots(SlotLimits(concurrent: 1))
    let first = try await slots.acquire(.numbered(1), name: "1", owner: 0, concurrency: 1, patience: .seconds(60))
    async let second = slots.acquire(.numbered(2), name: "2", owner: 0, concurrency: 1, patience: .seconds(60))
    #expect(await eventually { slots.counts.waiting == 1 })
    slots.finish(first, succeeded: false)
    let id = try await second
    #expect(slots.counts == (1, 0, 0))
    slots.markLong(id)
    #expect(slots.counts == (0, 1, 0))
  }
}
