import JSONRPC
import OpenMetrics
import SDKClient
import SDKProtocol
import Testing

@testable import sdkctl

/// `sdkctl top`: the figures and the screen that two metrics texts give.
struct TopTests {
  static func text(calls: Int, failed: Int = 0, fast: Int, started: Int = 1_000_000_000) -> String {
    """
    # TYPE sdkd_calls counter
    sdkd_calls_total{method="token.get",outcome="ok"} \(calls)
    sdkd_calls_total{method="token.get",outcome="locked"} \(failed)
    sdkd_calls_total{method="daemon.info",outcome="ok"} 3
    sdkd_call_duration_seconds_bucket{method="token.get",le="1e-05"} \(fast)
    sdkd_call_duration_seconds_bucket{method="token.get",le="0.01"} \(calls + failed)
    sdkd_call_duration_seconds_bucket{method="token.get",le="+Inf"} \(calls + failed)
    sdkd_instances{kind="a",state="authenticated"} 2
    sdkd_instances{kind="b",state="authenticated"} 1
    sdkd_instances{kind="b",state="locked"} 1
    sdkd_providers{state="running"} 4
    sdkd_provider_breakers{state="open"} 1
    process_start_time_seconds \(started)
    sdkd_build_info{version="0.1.0",api="1.0"} 1
    # EOF

    """
  }

  private func frame(_ before: String, _ after: String, seconds: Double = 2) throws -> TopFrame {
    TopFrame(try MetricsReading(after), since: try MetricsReading(before), seconds: seconds)
  }

  @Test func ratesAreDifferences() throws {
    let frame = try frame(Self.text(calls: 100, fast: 100), Self.text(calls: 180, failed: 20, fast: 150))
    let first = try #require(frame.methods.first)
    #expect(first.name == "token.get")
    #expect(first.callsPerSecond == 50)
    #expect(first.errorsPerSecond == 10)
    #expect(first.total == 200)
    #expect(first.p50 == 0.00001)
    #expect(try #require(first.p99) > 0.009)
    #expect(frame.methods.map(\.name) == ["token.get", "daemon.info"])
    #expect(frame.methods.last?.p50 == nil)
    #expect(frame.levels("sdkd_instances", by: "state").map(\.value) == [3, 1])
  }

  @Test func aDaemonThatBeganAnewCountsFromZero() throws {
    let frame = try frame(Self.text(calls: 1000, fast: 1000), Self.text(calls: 40, fast: 40, started: 1_000_000_500))
    #expect(frame.methods.first?.callsPerSecond == 20)
    #expect(frame.methods.first?.p99 ?? 1 <= 0.00001)
  }

  @Test func theTextHasAllOfIt() throws {
    let frame = try frame(Self.text(calls: 0, fast: 0), Self.text(calls: 50, failed: 2, fast: 50))
    let text = TopPage(frame: frame, instances: [])
      .text(at: Timestamp(secondsSince1970: 1_000_003_700), hasColour: false)
    for part in [
      "sdkd       0.1.0, up 1 h 1 min", "calls      26/s, 1/s failed", "instances  4, 3 authenticated, 1 locked",
      "4 running", "breakers: 1 open", "token.get    26       1         5", "daemon.info",
    ] {
      #expect(text.contains(part), "\(part)\n\(text)")
    }
  }

  @Test(arguments: [
    (0.0, "0"), (0.04, "<0.1"), (0.44, "0.4"), (1.0, "1"), (9.94, "9.9"), (9.96, "10"), (1234.5, "1235"),
    (Double.infinity, "?"), (-1.5, "-1.5"),
  ])
  func numbersAreShort(value: Double, text: String) { #expect(Figure.number(value) == text) }

  @Test(arguments: [(0.0000123, "12 µs"), (0.00151, "1.5 ms"), (2.04, "2 s")])
  func latenciesHaveTheirUnit(value: Double, text: String) { #expect(Figure.latency(value) == text) }

  @Test func linesAreCutToTheScreen() {
    #expect(ScreenText.clipped("abcdef", to: 3) == "ab…")
    #expect(ScreenText.clipped("abc", to: 3) == "abc")
    #expect(ScreenText.clipped("\u{1B}[1mabc\u{1B}[0mdef", to: 4) == "\u{1B}[1mabc\u{1B}[0m…")
    #expect(ScreenText.fitted("a\nb\nc", columns: 9, rows: 2) == "\u{1B}[Ha\u{1B}[K\r\n…\u{1B}[K\u{1B}[J")
  }

  private func instance(_ id: String, _ state: String, ends: Double? = nil, error: String? = nil) -> JSON {
    var object = Samples.instance(id, state: state).objectValue ?? [:]
    object["expiresAt"] = ends.map { .string(Timestamp(secondsSince1970: $0).description) }
    object["lastError"] = error.map { ["reason": .string($0), "at": "2001-09-09T01:46:40.000Z"] }
    return .object(object)
  }

  @Test("Instances have a row each, in the chosen order")
  func instanceRows() throws {
    let frame = try frame(Self.text(calls: 0, fast: 0), Self.text(calls: 1, fast: 1))
    let instances = [
      instance("a", "authenticated", ends: 2_000_000_000), instance("b", "reauthNeeded"),
      instance("c", "authenticated", ends: 1_000_009_000, error: "network"), instance("d", "locked"),
    ]
    func order(_ sort: TopPage.Sort) -> String {
      TopPage(frame: frame, instances: instances, sort: sort).sorted(at: .now)
        .map { $0["instance"]?.stringValue ?? "" }.joined()
    }
    #expect(order(.attention) == "dbca")
    #expect(order(.name) == "abcd")
    #expect(order(.expiry) == "cabd")
    #expect(order(.state) == "acdb")
    let text = TopPage(frame: frame, instances: instances)
      .text(at: Timestamp(secondsSince1970: 1_000_000_300), hasColour: false)
    #expect(text.contains("\nc         test.kind  authenticated  alice  2 h 25 min   network, 5 min ago\n"), "\(text)")
  }

  @Test("A page fits its screen, says what it leaves out, and ends with the keys", arguments: [18, 24, 60])
  func pagesFit(_ rows: Int) throws {
    let frame = try frame(Self.text(calls: 0, fast: 0), Self.text(calls: 1, fast: 1))
    let instances = (0..<100).map { instance("i\($0)", "authenticated") }
    for view in TopPage.View.allCases {
      let lines = TopPage(frame: frame, instances: instances, view: view)
        .text(at: Timestamp(secondsSince1970: 1_000_000_300), hasColour: false, rows: rows)
        .split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == rows, "\(view)")
      #expect(lines.last?.hasPrefix("q quit · s sort: attention · v view: \(view)") == true)
      #expect(lines.contains { $0.hasPrefix("… ") && $0.hasSuffix(" more") } == (view != .methods))
      if view != .instances { #expect(lines.contains { $0.hasPrefix("METHOD") }, "\(view)") }
    }
  }

  @Test func onceIsTwoLooks() async throws {
    let run = Run()
    let answer: @Sendable (String, JSON) -> JSON = { _, _ in
      ["contentType": "x", "text": .string(Self.text(calls: run.calls.count * 10, fast: 0))]
    }
    #expect(await run.status("top", "--once", "--interval", "0.1", answer: answer) == 0)
    #expect(run.calls.map(\.method) == ["daemon.metrics", "daemon.metrics", "instance.list"])
    #expect(run.output.contains("token.get"))
    #expect(!run.output.contains("\u{1B}"))
    let json = Run()
    #expect(await json.status("top", "--once", "--interval", "0.1", "-o", "json", answer: answer) == 0)
    #expect(try JSONParser.parse(json.output)["methods"]?.arrayValue?.first?["method"] == "token.get")
  }

  @Test func whatCantBeReadIsSaid() async {
    let run = Run()
    #expect(await run.status("top", "--once") { _, _ in ["contentType": "x", "text": "what is this"] } == 1)
    #expect(run.errors.contains("Line 1 of the metrics"))
    #expect(await Run().status("top", "--interval", "0") == 2)
  }
}
