import CoreMetrics
import Testing

@testable import OpenMetrics

@Suite struct MetricsReadingTests {
  @Test func whatWasWrittenIsRead() async throws {
    let registry = MetricsRegistry(testing: 100)
    Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "ok")], factory: registry).increment(by: 3)
    Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "no")], factory: registry).increment(by: 4)
    Recorder(label: "test_size", dimensions: [], aggregate: true, factory: registry).record(3)
    registry.collect { [MetricSample(.odd, ["a\\b\"c\nd}, "], is: -Double.infinity)] }
    let reading = try MetricsReading(await registry.text())
    #expect(reading.sum("test_calls_total") == 7)
    #expect(reading.sum("test_calls_total", ["outcome": "no"]) == 4)
    #expect(reading.sums("test_calls_total", by: "outcome") == ["ok": 3, "no": 4])
    #expect(reading["test_odd"] == [.init(labels: ["text": "a\\b\"c\nd}, "], value: -.infinity)])
    #expect(HistogramReading("test_size", in: reading).buckets.map(\.count) == [0, 0, 1, 1])
    #expect(reading["missing"].isEmpty)
  }

  @Test(arguments: [
    "name", "name{", "name{} ", "{a=\"b\"} 1", "name{a} 1", "name{a=b} 1", "name{a=\"b} 1", "name{a=\"b\"c=\"d\"} 1",
    "name{a=\"b\\", "name one", "name{=\"b\"} 1",
  ])
  func brokenLinesAreRefused(line: String) {
    #expect(throws: MetricsReading.SyntaxError(line: 2)) { try MetricsReading("# EOF\n" + line) }
  }

  @Test func quantilesAreSpreadOverTheirBucket() async throws {
    let registry = MetricsRegistry(testing: 100)
    let size = Recorder(label: "test_size", dimensions: [], aggregate: true, factory: registry)
    #expect(HistogramReading("test_size", in: MetricsReading()).quantile(0.5) == nil)
    for value in [1, 1, 2, 2, 3, 3, 4, 4] { size.record(value) }
    let before = HistogramReading("test_size", in: try MetricsReading(await registry.text()))
    #expect(before.quantile(0.25) == 1)
    #expect(before.quantile(0.5) == 2)
    #expect(before.quantile(0.75) == 3)
    for _ in 0..<8 { size.record(100) }
    let after = HistogramReading("test_size", in: try MetricsReading(await registry.text()))
    #expect(after.since(before).count == 8)
    #expect(after.since(before).quantile(0.5) == 4)
    #expect(before.since(after) == before)
    #expect(after.since(nil) == after)
  }
}
