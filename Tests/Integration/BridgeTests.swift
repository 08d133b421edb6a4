import Foundation
import Glibc
import JSONRPC
import Testing

/// The token provider, as a real program run by the real daemon.
@Suite struct BridgeTests {
  /// Opens a desk with a user whose token lives a while and a provider that is this script.
  private func desk(_ script: String, _ provider: JSONObject = [:]) throws -> (Desk, Line, first: String) {
    let desk = try Desk.open()
    let line = try desk.connect()
    let base = try desk.provider(script).objectValue ?? [:]
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
      provider: .object(base.merged(with: provider)))
    let first = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
    return (desk, line, first)
  }

  private static let mint = "'\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""

  @Test(arguments: [
    ("exit 3", "providerFailed"), ("exit 75", "providerFailed"), ("kill -9 $$", "providerFailed"),
    ("true", "providerOutputInvalid"), ("echo garbage", "providerOutputInvalid"),
    ("echo '{\"tokn\": \"x\"}'", "providerOutputInvalid"), ("yes", "providerOutputInvalid"),
    ("sleep 60", "providerTimeout"),
    ("'\(Program.path("sdk-sandbox"))' mint --external-id mallory", "providerTokenForOtherUser"),
    ("'\(Program.path("sdk-sandbox"))' mint --external-id alice --ttl=-9", "providerOutputInvalid"),
  ])
  func failuresHaveTheirReasonAndTheTokenStays(script: String, reason: String) throws {
    let (desk, line, first) = try desk(script, ["timeout": "500ms"])
    let error = try line.failure("token.refresh", ["instance": "desk"])
    #expect(error.code == -32040)
    #expect(error.reason == reason)
    let token = try line.call("token.get", ["instance": "desk"])
    #expect(token["token"] == .string(first))
    #expect(try line.call("instance.get", ["instance": "desk"])["state"] == "authenticated")
    let bridge = try line.call("instance.get", ["instance": "desk"])["bridge"]
    #expect(bridge?["lastExit"]?.stringValue != nil)
    #expect(try children(of: desk).isEmpty)
  }

  @Test func aHangingProviderAndItsChildrenAreKilled() throws {
    let (desk, line, _) = try desk("trap '' TERM; sleep 300 & sleep 300", ["timeout": "300ms"])
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerTimeout")
    #expect(try children(of: desk).isEmpty)
  }

  @Test func aBreakerOpensAndControlResetsIt() throws {
    let (desk, line, _) = try desk("echo run >> runs; exit 1")
    _ = try desk.provider("echo run >> '\(desk.folder.path)/runs'; exit 1")
    _ = try line.failure("token.refresh", ["instance": "desk"])
    #expect(try line.call("instance.get", ["instance": "desk"])["bridge"]?["state"] == "open")
    // Root has the role control, so the breaker lets the call pass.
    _ = try line.failure("token.refresh", ["instance": "desk"])
    let runs = try String(contentsOf: desk.folder.appendingPathComponent("runs"), encoding: .utf8)
    #expect(runs == "run\nrun\n")
    let types = try line.call("events.list")["events"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
    #expect(types.contains("breakerOpened"))
    #expect(types.contains("refreshFailed"))
  }

  @Test func aProviderThatOthersMayWriteIsNotRun() throws {
    let (desk, line, _) = try desk("exit 0")
    try desk.write("provider", "#!/bin/sh\nexit 0\n", mode: 0o777)
    let error = try line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == "providerNotAllowed")
  }

  @Test func aProviderThatIsJustBeingDeployedIsTriedAgain() throws {
    let (desk, line, first) = try desk("exec \(Self.mint)")
    let file = open(desk.folder.appendingPathComponent("provider").path, O_WRONLY | O_CLOEXEC)
    #expect(file >= 0)
    let id = line.begin("token.refresh", ["instance": "desk"])
    // Long enough that the daemon meets the busy file, short enough that it is free again in time.
    usleep(80_000)
    close(file)
    let token = try line.answer(id)["result"]
    #expect(token?["fromCache"] == false)
    #expect(token?["token"] != .string(first))
  }

  @Test func aHangingProviderDelaysNoOtherInstance() throws {
    let (desk, line, _) = try desk("sleep 60", ["timeout": "20s"])
    try desk.create("other", on: line)
    try line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    let waiting = (0..<20).map { _ in line.begin("token.refresh", ["instance": "desk"]) }
    #expect(waiting.count == 20)
    let next = try desk.connect()
    let began = Date()
    for _ in 0..<100 { try next.call("token.get", ["instance": "other"]) }
    // Far less than the provider's time-out, however slow the machine.
    #expect(Date().timeIntervalSince(began) < 15)
  }

  @Test func aStaleButLivingTokenIsServedWhenRenewalFails() throws {
    let (_, line, first) = try desk("exit 1")
    let token = try line.call("token.get", ["instance": "desk", "minTTL": "2h"])
    #expect(token["token"] == .string(first))
    #expect(token["stale"] == true)
  }

  @Test func withoutAProviderThatIsSaid() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "noProvider")
  }

  /// Returns the processes that the daemon has started and that still run.
  private func children(of desk: Desk) throws -> [String] {
    guard let pid = desk.daemon?.pid else { return [] }
    var left: [String] = []
    for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(entry) != nil {
      guard let stat = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8) else { continue }
      let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
      if fields.count > 1, fields[1] == "\(pid)" { left.append(stat) }
    }
    return left
  }
}
