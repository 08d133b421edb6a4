import CoreMetrics
import OpenMetrics
import Testing

@Suite struct MetricsRegistryTests {
  let registry = MetricsRegistry(testing: 4)

  @Test func theSameLabelsAreTheSameNumbers() async {
    let one = Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "ok")], factory: registry)
    let other = Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "ok")], factory: registry)
    one.increment()
    other.increment(by: 2)
    one.increment(by: -5)
    let text = await registry.text()
    #expect(text.contains("\ntest_calls_total{method=\"a\",outcome=\"ok\"} 3\n"))
    #expect(registry.rejected == 0)
  }

  @Test func whatIsNotDeclaredIsNotCounted() async {
    Counter(label: "foreign", factory: registry).increment()
    Counter(label: "test_calls", factory: registry).increment()
    Counter(label: "test_calls", dimensions: [("uid", "0"), ("outcome", "ok")], factory: registry).increment()
    Counter(label: "test_level", factory: registry).increment()
    Timer(label: "test_level", factory: registry).recordSeconds(1)
    registry.collect {
      [MetricSample(MetricFamily("foreign", .gauge, "Undeclared."), is: 1), MetricSample(.level, ["more"], is: 1)]
    }
    #expect(await registry.text() == "# EOF\n")
    #expect(registry.rejected == 7)
  }

  @Test func combinationsOfLabelsAreBounded() async {
    for number in 0..<100 {
      Counter(label: "test_calls", dimensions: [("method", "m\(number)"), ("outcome", "ok")], factory: registry)
        .increment()
    }
    let text = await registry.text()
    #expect(text.split(separator: "\n").count { $0.hasPrefix("test_calls_total") } == 4)
    #expect(registry.rejected == 96)
  }

  @Test func anotherKindUnderTheSameNameIsNotCounted() async {
    Meter(label: "test_level", factory: registry).set(5)
    Recorder(label: "test_level", dimensions: [], aggregate: true, factory: registry).record(7)
    #expect(await registry.text().contains("\ntest_level 5\n"))
  }

  @Test func countingFromManyThreadsLosesNothing() async {
    let counter = Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "ok")], factory: registry)
    let timer = Timer(label: "test_duration_seconds", dimensions: [("method", "a")], factory: registry)
    let meter = Meter(label: "test_level", factory: registry)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<2_000 {
            counter.increment()
            timer.recordMilliseconds(5)
            meter.increment()
          }
        }
      }
    }
    let text = await registry.text()
    #expect(text.contains("test_calls_total{method=\"a\",outcome=\"ok\"} 16000\n"))
    #expect(text.contains("test_duration_seconds_count{method=\"a\"} 16000\n"))
    #expect(text.contains("test_duration_seconds_sum{method=\"a\"} 80\n"))
    #expect(text.contains("test_level 16000\n"))
  }
}
