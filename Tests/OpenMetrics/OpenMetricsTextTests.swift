import CoreMetrics
import OpenMetrics
import Testing

@Suite struct OpenMetricsTextTests {
  let registry = MetricsRegistry(testing: 100)

  @Test func theTextIsWhatTheFormatAsksFor() async {
    Counter(label: "test_calls", dimensions: [("method", "b"), ("outcome", "ok")], factory: registry).increment()
    Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "ok")], factory: registry).increment()
    Meter(label: "test_level", factory: registry).set(1.5)
    let timer = Timer(label: "test_duration_seconds", dimensions: [("method", "a")], factory: registry)
    _ = Timer(label: "test_duration_seconds", dimensions: [("method", "unused")], factory: registry)
    timer.recordMilliseconds(1)
    timer.recordMilliseconds(2)
    timer.recordSeconds(2)
    registry.collect { [MetricSample(.build, ["1.0"], is: 1)] }
    let text = await registry.text()
    #expect(
      text == """
        # TYPE test_build info
        # HELP test_build What this is.
        test_build_info{version="1.0"} 1
        # TYPE test_calls counter
        # HELP test_calls Calls.
        test_calls_total{method="a",outcome="ok"} 1
        test_calls_total{method="b",outcome="ok"} 1
        # TYPE test_duration_seconds histogram
        # UNIT test_duration_seconds seconds
        # HELP test_duration_seconds How long it took.
        test_duration_seconds_bucket{method="a",le="0.001"} 1
        test_duration_seconds_bucket{method="a",le="0.01"} 2
        test_duration_seconds_bucket{method="a",le="0.1"} 2
        test_duration_seconds_bucket{method="a",le="+Inf"} 3
        test_duration_seconds_sum{method="a"} 2.003
        test_duration_seconds_count{method="a"} 3
        # TYPE test_level gauge
        # HELP test_level How high it stands.
        test_level 1.5
        # EOF

        """)
  }

  @Test func labelsAndHelpAreEscaped() async {
    registry.collect { [MetricSample(.odd, ["a\\b\"c\nd"], is: Double.infinity)] }
    let text = await registry.text()
    #expect(text.contains(#"# HELP test_odd Help with a \\ backslash, a \"quote\" and\na line."#))
    #expect(text.contains(#"test_odd{text="a\\b\"c\nd"} +Inf"#))
  }
}
