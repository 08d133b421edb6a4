import Testing

@testable import sdkd

@Suite struct DescriptorHeadroomTests {
  @Test("A quarter of the descriptors, at most 64, is reserved from connections")
  func reserve() {
    #expect(DescriptorHeadroom(limit: 64).threshold == 48)
    #expect(DescriptorHeadroom(limit: 20_000).threshold == 19_936)
  }

  @Test("A connection is served if its descriptors and the next free one are below the reserve")
  func connections() {
    let headroom = DescriptorHeadroom(limit: 20_000)
    #expect(headroom.isThere(after: headroom.threshold - 1))
    #expect(!headroom.isThere(after: headroom.threshold))
    // The threshold is 3, and this process has more than three descriptors.
    #expect(!DescriptorHeadroom(limit: 4).isThere(after: 2))
  }
}
