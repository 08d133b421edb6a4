import Foundation
import Glibc
import JSONRPC
import Testing

/// Clients that stop in the middle of an exchange, and a daemon that runs out of descriptors.
@Suite struct StuckClientTests {
  @Test func aStoppedPeerIsClosedAndTheOthersGoOn() throws {
    let desk = try Desk.open(configuration: "[limits]\nwrite_timeout = \"1s\"\n")
    let other = try desk.connect()
    // A connection that is made is not yet one that the daemon has accepted.
    try other.call("daemon.info")
    let before = try desk.vitals
    let peer = try Stranger(
      desk,
      """
      line = Line()
      say("ready")
      request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}).encode() + b"\\n"
      try:
          while True: line.socket.sendall(request * 100)
      except OSError: say("closed")
      """)
    #expect(try peer.word() == "ready")
    peer.signal(SIGSTOP)
    for _ in 0..<200 { try other.call("daemon.info") }
    peer.signal(SIGCONT)
    #expect(try peer.end() == "closed")
    try eventually("its descriptor is given back") { try desk.vitals.descriptors <= before.descriptors + 2 }
    #expect(try desk.vitals.resident < before.resident + (128 << 20))
  }

  @Test func subscribersThatStopReadingHoldNobodyUp() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let deaf = try (0..<3).map { _ in try desk.connect() }
    for subscriber in deaf {
      for _ in 0..<16 { try subscriber.call("events.subscribe") }
    }
    let listening = try desk.connect()
    try listening.call("events.subscribe")
    let before = try desk.vitals
    for number in 0..<400 {
      try line.call("instance.update", ["instance": "desk", "labels": ["n": .string("\(number)")]])
      _ = try listening.notification("events.event")
    }
    #expect(try desk.vitals.resident < before.resident + (64 << 20))
    #expect(try line.call("daemon.health")["status"] == "ok")
  }

  @Test func aDelegateThatNeverAnswersHoldsUpItsOwnInstanceOnly() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let lazy: JSONObject = ["refresh": ["mode": "lazy"]]
    for id in ["mine", "other"] {
      try desk.create(id, on: line, settings: lazy, provider: try desk.mintingProvider())
      try line.call(
        "messaging.loginUser", ["instance": .string(id), "jwt": .string(try Vendor.mint("alice", ttl: 300))])
    }
    let delegate = try desk.connect()
    try delegate.call("delegate.attach", ["instances": ["mine"], "timeout": "3s"])
    let waiting = try desk.connect()
    let id = waiting.begin("token.get", ["instance": "mine", "minTTL": 600])
    for _ in 0..<50 { #expect(try line.call("token.get", ["instance": "other"])["fromCache"] == true) }
    #expect(try line.call("token.get", ["instance": "mine"])["fromCache"] == true)
    // After the delegate's time-out the question goes to the provider.
    #expect(try waiting.answer(id, within: 60)["result"]?["fromCache"] == false)
  }

  @Test func anIdInProgressIsRefusedAndFreeAfterwards() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("exec sleep 60"))
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 300))])
    let request =
      "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"token.get\",\"params\":{\"instance\":\"desk\",\"minTTL\":600}}\n"
    line.send(request + request)
    #expect(try line.json()?["error"]?["code"] == -32600)
    line.send("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\"x\"}}\n")
    #expect(try line.json()?["error"]?["code"] == -32800)
    line.send("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"daemon.info\"}\n")
    #expect(try line.json()?["result"]?["name"] == "sdkd")
  }

  @Test func withoutDescriptorsTheConnectedAreServedAndTheRestRecovers() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.mintingProvider(ttl: 3600))
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 300))])
    let before = try desk.vitals
    // From now on the daemon can open only a few more descriptors.
    let pid = try #require(desk.daemon?.pid)
    let most = before.descriptors + 24
    _ = try desk.play("resource.prlimit(\(pid), resource.RLIMIT_NOFILE, (\(most), \(most)))")
    var lines = try (0..<80).map { _ in try desk.connect() }
    let ids = lines.map { $0.begin("daemon.info") }
    try eventually("there is none left") { try desk.vitals.descriptors >= before.descriptors + 22 }
    // Connected clients are served from memory. A refresh fails with a retryable error, since no descriptor is left for
    // a provider or a vendor.
    for _ in 0..<50 { #expect(try line.call("token.get", ["instance": "desk"])["fromCache"] == true) }
    let refresh = try line.failure("token.refresh", ["instance": "desk"], within: 60)
    #expect(refresh.isRetryable, "\(refresh.message)")
    #expect(try line.call("token.get", ["instance": "desk"])["token"] != nil)
    // A daemon that waits for descriptors does not spin.
    let ticks = try Self.ticks(pid)
    usleep(1_000_000)
    #expect(try Self.ticks(pid) - ticks < 50)
    // Clients are served in the order of their connections; when one leaves, the next one is served.
    var served = 0
    for (number, id) in ids.enumerated() {
      if (try? lines[0].answer(id, within: 20)) != nil { served += 1 }
      #expect(served == number + 1)
      lines.removeFirst()
    }
    try eventually("the descriptors are given back", within: 30) {
      try desk.vitals.descriptors <= before.descriptors + 4
    }
    try eventually("tokens are renewed again", within: 60) {
      (try? line.call("token.refresh", ["instance": "desk"], within: 60))?["fromCache"] == false
    }
    #expect(try desk.connect().call("daemon.health")["status"] == "ok")
  }

  /// Returns the processor time used so far, in hundredths of a second.
  private static func ticks(_ pid: pid_t) throws -> Int {
    let fields = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).split(separator: " ")
    return (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0)
  }
}
