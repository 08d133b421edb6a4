import CoreMetrics
import OpenMetrics
import Testing

@Suite struct MetricsTextTests {
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

  @Test("In the classic format counters and infos are named as their samples, and there is no unit and no end")
  func classic() async {
    Counter(label: "test_calls", dimensions: [("method", "a"), ("outcome", "ok")], factory: registry).increment()
    Timer(label: "test_duration_seconds", dimensions: [("method", "a")], factory: registry).recordMilliseconds(1)
    registry.collect {
      [MetricSample(.build, ["1.0"], is: 1), MetricSample(.odd, ["a\\b\"c\nd"], is: -Double.infinity)]
    }
    let text = await registry.text(.classic)
    #expect(
      text == #"""
        # HELP test_build_info What this is.
        # TYPE test_build_info gauge
        test_build_info{version="1.0"} 1
        # HELP test_calls_total Calls.
        # TYPE test_calls_total counter
        test_calls_total{method="a",outcome="ok"} 1
        # HELP test_duration_seconds How long it took.
        # TYPE test_duration_seconds histogram
        test_duration_seconds_bucket{method="a",le="0.001"} 1
        test_duration_seconds_bucket{method="a",le="0.01"} 1
        test_duration_seconds_bucket{method="a",le="0.1"} 1
        test_duration_seconds_bucket{method="a",le="+Inf"} 1
        test_duration_seconds_sum{method="a"} 0.001
        test_duration_seconds_count{method="a"} 1
        # HELP test_odd Help with a \\ backslash, a "quote" and\na line.
        # TYPE test_odd gauge
        test_odd{text="a\\b\"c\nd"} -Inf

        """#)
  }

  @Test(
    "The known format with the highest quality is chosen, of equal ones the first",
    arguments: [
      ([], .classic), ([""], .classic), (["*/*"], .classic), (["application/json", "image/*"], .classic),
      (["application/openmetrics-text"], .openMetrics), (["text/plain"], .classic),
      (["text/plain;version=1.0.0"], .classic),
      (["APPLICATION/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=0.2", " text/plain;q=0.1"], .openMetrics),
      (["application/openmetrics-text;q=0.5", "*/*;q=0.9"], .classic),
      (["application/openmetrics-text;q=0", "*/*;q=0.1"], .classic), (["application/openmetrics-text;q=0"], .classic),
      (["application/openmetrics-text", "text/plain"], .openMetrics),
      (["text/plain", "application/openmetrics-text"], .classic),
      (["application/openmetrics-text;version=2.0.0", "text/plain;version=0.0.4;q=0.1"], .classic),
      (["application/openmetrics-text;q=nan", "text/plain;q=0.9"], .openMetrics),
      (["application/openmetrics-text;q=-1;q", "text/plain;q=0.9"], .openMetrics),
      // The `Accept` headers of Prometheus 2.42 and VictoriaMetrics.
      (
        [
          "application/openmetrics-text;version=1.0.0", "application/openmetrics-text;version=0.0.1;q=0.75",
          "text/plain;version=0.0.4;q=0.5", "*/*;q=0.1",
        ], .openMetrics
      ), (["text/plain;version=0.0.4;q=1", "*/*;q=0.1"], .classic),
    ] as [([String], MetricsFormat)])
  func formats(accept: [String], format: MetricsFormat) {
    #expect(MetricsFormat(accept: accept) == format)
  }

  @Test func labelsAndHelpAreEscaped() async {
    registry.collect { [MetricSample(.odd, ["a\\b\"c\nd"], is: Double.infinity)] }
    let text = await registry.text()
    #expect(text.contains(#"# HELP test_odd Help with a \\ backslash, a \"quote\" and\na line."#))
    #expect(text.contains(#"test_odd{text="a\\b\"c\nd"} +Inf"#))
  }
}
