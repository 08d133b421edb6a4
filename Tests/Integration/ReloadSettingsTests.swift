import Foundation
import Glibc
import JSONRPC
import OpenMetrics
import Testing

/// The reload of each table of the configuration while the daemon runs, also for open connections.
@Suite struct ReloadSettingsTests {
  @Test(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
  func accessAndLimitsHoldForConnectionsThatAreThere() throws {
    let desk = try Desk.open(configuration: "[limits]\nmax_frame_bytes = \"64KiB\"\ncalls_per_second = 5\n")
    let stranger = try Stranger(
      desk, uid: 1001,
      """
      line, big = Line(), Line()
      say(reason(line.call("daemon.metrics")))
      create = dict(instance="web-1", kind="zendesk.messaging",
                    settings={"base_url": "https://chat.example.org", "app_id": "5f0000000000000000000001"})
      say(reason(line.call("instance.create", **create)))
      while not os.path.exists(os.path.dirname(path) + "/go"):
          time.sleep(0.01)
      answers = []
      for id in range(60):
          line.begin(id, "daemon.info")
      rates = [reason(line.read()) for _ in range(60)]
      say(rates.count("rateLimit"))
      big.begin(1, "storage.put", instance="x", key="k", value="v" * 90000)
      say(big.read().get("id"))
      say(reason(line.call("events.subscribe")))
      say(reason(line.call("instance.create", **create)))
      create["instance"] = "web-2"
      say(reason(line.call("instance.create", **create)))
      while not os.path.exists(os.path.dirname(path) + "/admin"):
          time.sleep(0.01)
      say(reason(line.call("daemon.metrics")))
      """)
    try eventually("it has tried") { try stranger.said.count == 2 }
    #expect(try stranger.said == ["accessDenied", "accessDenied"])
    let line = try desk.connect()
    try desk.write(
      "sdkd.toml",
      """
      [limits]
      max_frame_bytes = "1MiB"
      calls_per_second = 500
      instances = 1
      subscriptions = 0
      [network]
      allow = ["example.org"]
      [[access.create]]
      who = "uid:1001"
      prefix = "web-"
      max = 5
      """)
    #expect(try line.call("daemon.reload")["problems"] == [])
    #expect(try line.call("daemon.info")["limits"]?["callsPerSecond"] == 500)
    try desk.write("go", "")
    try eventually("it has tried again") { try stranger.said.count == 7 }
    // In order: the calls over the rate, the id of the response to a frame of 90 kB, the limit on subscriptions, the rule
    // with its hosts, and the limit on instances.
    let said = try stranger.said.map { JSONWriter.text(of: $0) }
    #expect(said[2...] == ["0", "1", "\"tooManySubscriptions\"", "null", "\"tooManyInstances\""])
    try desk.write("sdkd.toml", "[access]\nadmins = [\"uid:1001\"]\n")
    try line.call("daemon.reload")
    try desk.write("admin", "")
    #expect(try stranger.end() == .null)
  }

  @Test func theMetricsMoveAndABadAddressIsSaid() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let (first, second) = (desk.folder.path + "/m1", desk.folder.path + "/m2")
    func isServed(_ path: String) -> Bool { (try? Line(path)) != nil }
    try desk.write("sdkd.toml", "[metrics]\nlisten = \"\(first)\"\n")
    try line.call("daemon.reload")
    #expect(isServed(first))
    try desk.write("sdkd.toml", "[metrics]\nlisten = \"\(second)\"\n")
    try line.call("daemon.reload")
    #expect(isServed(second) && !isServed(first))
    try desk.write("sdkd.toml", "[metrics]\nlisten = \"/nowhere/at/all\"\n")
    let problems = try line.call("daemon.reload")["problems"]?.arrayValue ?? []
    #expect(problems.map { $0["key"] } == ["metrics.listen"])
    #expect(isServed(second))
    #expect(try desk.check("metrics", on: line)?["status"] == "degraded")
    try desk.write("sdkd.toml", "")
    #expect(try line.call("daemon.reload")["problems"] == [])
    #expect(!isServed(second))
    #expect(try desk.check("metrics", on: line) == nil)
  }

  @Test func theBridgeTheLogAndTheGraceFollow() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
      provider: try desk.mintingProvider())
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"] != nil)
    let silent = "[bridge]\nallow = [\"/usr/libexec/nowhere\"]\n[log]\nlevel = \"critical\"\n"
    try desk.write("sdkd.toml", silent + "[shutdown]\ngrace = \"10m\"\n")
    try line.call("daemon.reload")
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerNotAllowed")
    let written = desk.logs.count
    desk.daemon?.signal(SIGHUP)
    #expect(try line.call("token.get", ["instance": "desk"])["fromCache"] == true)
    try desk.write("sdkd.toml", "[shutdown]\ngrace = \"1s\"\n")
    try line.call("daemon.reload")
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"] != nil)
    #expect(desk.logs.dropFirst(written).contains("put in force"))
    // A login at the vendor is abandoned when the new grace ends.
    let sent = try desk.vendor.count("POST", "/login")
    try desk.vendor.script(["route": "POST /v2/apps/*/login", "hang": true])
    line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    try eventually("the login is at the vendor") { try desk.vendor.count("POST", "/login") > sent }
    let start = Date()
    desk.daemon?.signal(SIGTERM)
    #expect(desk.daemon?.exit(within: 30) == 0)
    #expect(Date().timeIntervalSince(start) < 15)
  }
}
