import OpenMetrics
import SDKProtocol
import Testing

@testable import sdkd

/// The health and the age of the backups as metrics.
@Suite struct HealthReadingTests {
  @Test("Of several checks with one name the worst counts, and a backup that was never made has no sample")
  func worst() {
    let reading = HealthReading(
      checks: {
        [
          .init(name: "state", status: .degraded), .init(name: "store", status: .ok),
          .init(name: "state", status: .failing), .init(name: "state", status: .ok),
        ]
      }, lastBackup: { nil })
    #expect(
      Set(reading.samples) == [MetricSample(.health, ["state"], is: 2), MetricSample(.health, ["store"], is: 0)])
  }

  @Test("The newest backup is a time in seconds")
  func backup() {
    let reading = HealthReading(checks: { [] }, lastBackup: { Timestamp(secondsSince1970: 1_800_000_000.5) })
    #expect(reading.samples == [MetricSample(.backupTime, is: 1_800_000_000.5)])
  }
}
