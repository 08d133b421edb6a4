import Foundation
import Logging
import SDKProtocol
import Testing
import Waiting

@testable import sdkd

/// The test whether the silence of the store's writer is a stall.
@Suite struct StoreStallTests {
  private func stall(in directory: String) -> StoreStall {
    StoreStall(interval: .seconds(2), disk: DiskCheck(state: directory), logger: Logger(label: "test"))
  }

  @Test func `A writer that is silent though the disk answers is wedged, unless it is at long work`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let stall = stall(in: folder.path)
    #expect(stall.excuses(.milliseconds(900), longWork: nil))
    #expect(stall.excuses(.seconds(60), longWork: .seconds(60)), "a copy of the state")
    #expect(stall.checks.isEmpty)
    var patience = Patience()
    while stall.excuses(.seconds(3), longWork: nil), !patience.isOver() {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(!stall.excuses(.seconds(3), longWork: nil))
    #expect(!stall.excuses(.seconds(700), longWork: .seconds(700)), "no copy takes that long")
    // Silence that is shorter than the interval is always excused.
    #expect(stall.excuses(.milliseconds(1500), longWork: nil))
    #expect(stall.checks.map(\.status) == [.degraded])
    stall.end()
    #expect(stall.checks.isEmpty)
  }
}
