import Foundation
import Glibc
import JSONRPC
import Testing

/// The limits for callers without the role admin: each refused call has a reason of its own. Needs root to switch
/// users.
@Suite(.enabled(if: getuid() == 0, "needs root to start processes of other users"))
struct LimitTests {
  private func desk(_ limits: String) throws -> Desk { try Desk.open(configuration: "[limits]\n\(limits)\n") }

  /// Creates an instance that uids 1001 and 1002 may use, whose provider takes a minute.
  private func slowInstance(_ desk: Desk) throws {
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy"]], provider: try desk.provider("exec sleep 60"),
      access: ["use": ["uid:1001", "uid:1002"]])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice", ttl: 300))])
  }

  @Test func callsOverTheRateAreRefusedAndAdminsAreNot() throws {
    let desk = try desk("calls_per_second = 5")
    let said = try desk.play(
      uid: 1001,
      """
      lines = [Line(), Line()]
      for id in range(100):
          lines[id % 2].begin(id, "daemon.info")
      answers = [lines[id % 2].read() for id in range(100)]
      refused = [a["error"] for a in answers if "error" in a]
      wait = max(e["data"]["retryAfter"] for e in refused)
      time.sleep(wait)
      batch = Line()
      batch.send(json.dumps([{"jsonrpc": "2.0", "id": n, "method": "daemon.info"} for n in range(60)]))
      members = batch.read()
      later = batch.call("daemon.info")
      while "error" in later:
          time.sleep(later["error"]["data"]["retryAfter"])
          later = batch.call("daemon.info")
      say({"refused": len(refused), "codes": sorted({(e["code"], e["data"]["reason"]) for e in refused}),
           "retryable": all(e["data"]["retryable"] for e in refused), "wait": wait,
           "members": len(members), "membersRefused": len([m for m in members if reason(m) == "rateLimit"]),
           "afterWaiting": "result" in later})
      """)
    let refused = try #require(said["refused"]?.intValue)
    // Ten calls pass at once, and five more for each second until the last response.
    #expect(refused <= 90 && refused >= 20)
    #expect(said["codes"] == [[-32050, "rateLimit"]])
    #expect(said["retryable"] == true)
    let wait = try #require(said["wait"]?.doubleValue)
    #expect(wait > 0 && wait <= 0.2)
    #expect(said["members"] == 60)
    #expect((said["membersRefused"]?.intValue ?? 0) > 10)
    #expect(said["afterWaiting"] == true)
    let admin = try desk.connect()
    for _ in 0..<200 { try admin.call("daemon.info") }
    let limits = try admin.call("daemon.info")["limits"]
    #expect(limits?["callsPerSecond"] == 5)
    #expect(limits?["callBurst"] == 10)
  }

  @Test func aUserHasSoManyConnections() throws {
    let desk = try desk("connections = 3")
    let said = try desk.play(
      uid: 1001,
      """
      lines = [Line() for _ in range(3)]
      for line in lines: assert "result" in line.call("daemon.info")
      extra = Line()
      error = extra.read()
      end = extra.read()
      lines[0].socket.close(); lines[0].file.close()
      deadline = time.time() + 20
      while time.time() < deadline:
          again = Line().call("daemon.info")
          if again and "result" in again: break
      say({"error": error, "end": end, "again": "result" in again})
      """)
    #expect(said["error"]?["id"] == .null)
    #expect(said["error"]?["error"]?["data"]?["reason"] == "rateLimit")
    #expect(said["error"]?["error"]?["data"]?["retryAfter"] == 1)
    #expect(said["end"] == .null)
    #expect(said["again"] == true)
    let admins = try (0..<10).map { _ in try desk.connect() }
    for line in admins { try line.call("daemon.info") }
  }

  @Test func allUsersTogetherHaveSoManyAndAdminsStillGetIn() throws {
    let desk = try desk("connections = 2\ntotal_connections = 3")
    // Callers without a role would have a quarter of the connections.
    try desk.create("desk", on: try desk.connect(), access: ["observe": ["uid:1001", "uid:1002"]])
    try eventually("the rules count for connections") {
      try desk.play(
        uid: 1001,
        "l = [Line(), Line()]; say([reason(x.read()) if select.select([x.socket], [], [], 0.5)[0] else None for x in l])"
      )
        == [.null, .null]
    }
    let script = """
      lines = [Line(), Line()]
      say([line.call("daemon.info") for line in lines])
      sys.stdin = open(path + ".go"); sys.stdin.read()
      """
    #expect(mkfifo(desk.socket + ".go", 0o666) == 0)
    chmod(desk.socket + ".go", 0o666)
    let first = try Stranger(desk, uid: 1001, script)
    #expect(try first.word().arrayValue?.allSatisfy { $0["result"] != nil } == true)
    let second = try Stranger(desk, uid: 1002, script)
    let answers = try #require(try second.word().arrayValue)
    let refusals = answers.compactMap { $0["error"] }
    #expect(refusals.count == 1)
    #expect(refusals.first?["data"]?["reason"] == "rateLimit")
    #expect(refusals.first?["message"]?.stringValue?.contains("All users together") == true)
    #expect(try desk.connect().call("daemon.health")["status"] == "ok")
    first.kill()
    second.kill()
  }

  @Test(
    "With 64 descriptors each client is served or answered rateLimit, and refused ones get in later",
    arguments: [0, 1001])
  func fewDescriptors(uid: Int) throws {
    let desk = try Desk()
    try desk.start(descriptors: 64)
    let said = try desk.play(
      uid: uid,
      """
      def attempt():
          line = Line()
          # A refused connection may be closed before it has sent anything.
          try: line.begin(1, "daemon.info")
          except OSError: pass
          return line
      lines = [attempt() for _ in range(60)]
      answers = [line.read() for line in lines]
      for line in lines: line.socket.close(); line.file.close()
      deadline, later = time.time() + 30, None
      while time.time() < deadline and not (later and "result" in later): later = attempt().read()
      say({"answers": sorted({"served" if "result" in answer else reason(answer) for answer in answers}),
           "later": "result" in later})
      """)
    #expect(said["answers"] == ["rateLimit", "served"])
    #expect(said["later"] == true)
    #expect(!desk.logs.contains("Too many open files"))
  }

  @Test func requestsInProgressAreCountedByUser() throws {
    let desk = try desk("max_in_flight = 2\nmax_in_flight_per_uid = 5")
    try slowInstance(desk)
    let script = """
      lines = [Line(), Line()]
      for id in range(6): lines[0].begin(id, "token.get", instance="desk", minTTL=600, timeout=60)
      refused = [lines[0].read()]
      for id in range(5): lines[1].begin(id, "token.get", instance="desk", minTTL=600, timeout=60)
      refused += [lines[1].read() for id in range(5)]
      say({"reasons": sorted({reason(a) for a in refused}), "words": refused[0]["error"]["message"]})
      """
    let said = try desk.play(uid: 1001, script)
    #expect(said["reasons"] == ["tooManyInFlight"])
    #expect(said["words"]?.stringValue?.contains("This user has too many requests") == true)
    // The requests ended with their connections, and another user was never affected.
    #expect(try desk.play(uid: 1001, script)["reasons"] == ["tooManyInFlight"])
    #expect(try desk.play(uid: 1002, #"say(Line().call("token.get", instance="desk"))"#)["result"] != nil)
  }

  @Test func aConnectionHasSoManySubscriptions() throws {
    let desk = try desk("subscriptions = 2")
    let said = try desk.play(
      uid: 1001, #"line = Line(); say([reason(line.call("events.subscribe")) for _ in range(3)])"#)
    #expect(said == [.null, .null, "tooManySubscriptions"])
  }

  @Test func aUserHasSoManySubscriptionsOnAllConnections() throws {
    let desk = try desk("subscriptions = 2\nsubscriptions_per_uid = 3")
    let script = """
      lines = [Line() for _ in range(3)]
      said = [reason(line.call("events.subscribe")) for line in lines for _ in range(2)]
      lines[0].socket.close(); lines[0].file.close()
      import time
      end = time.monotonic() + 20
      while (last := reason(lines[2].call("events.subscribe"))) and time.monotonic() < end: time.sleep(0.05)
      say(said + [last])
      """
    let most: JSON = "tooManySubscriptions"
    #expect(try desk.play(uid: 1001, script) == [.null, .null, .null, most, most, most, .null])
    #expect(try desk.play(uid: 1002, #"say(reason(Line().call("events.subscribe")))"#) == .null)
  }

  @Test func anInstanceStoresSoMuch() throws {
    let desk = try desk("instances = 20")
    try slowInstance(desk)
    let said = try desk.play(
      uid: 1001,
      """
      line = Line()
      answers = [line.call("storage.put", instance="desk", key=f"k{n}", value="x" * 32000) for n in range(40)]
      line.call("storage.delete", instance="desk", key="k1")
      again = line.call("storage.put", instance="desk", key="again", value="x" * 30000)
      say({"stored": len([a for a in answers if "result" in a]), "reasons": sorted({reason(a) for a in answers if "error" in a}),
           "again": "result" in again})
      """)
    let stored = try #require(said["stored"]?.intValue)
    #expect(stored * 32_000 <= 1 << 20 && stored >= 30)
    #expect(said["reasons"] == ["storageFull"])
    #expect(said["again"] == true)
  }

  @Test func longUnfinishedMessagesOfAUserAreBoundedTogether() throws {
    let desk = try desk("buffered_bytes_per_uid = \"1MiB\"")
    let said = try desk.play(
      uid: 1001,
      """
      lines = [Line() for _ in range(20)]
      for line in lines:
          try: line.socket.sendall(b" " + b"[" * 200_000)
          except BrokenPipeError: pass
      answers, waiting, end = [], list(lines), time.monotonic() + 30
      while len(answers) < 10 and time.monotonic() < end:
          for ready in select.select([line.socket for line in waiting], [], [], 1)[0]:
              line = next(l for l in waiting if l.socket is ready)
              waiting.remove(line)
              try: answers.append(reason(line.read()))
              except ConnectionResetError: pass
      say({"reasons": sorted(set(answers)), "count": len(answers), "short": "result" in Line().call("daemon.info")})
      """)
    #expect(said["reasons"] == ["rateLimit"])
    #expect((said["count"]?.intValue ?? 0) >= 10)
    #expect(said["short"] == true)
  }
}
