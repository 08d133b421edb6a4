import Foundation
import Glibc
import JSONRPC
import Testing

/// A daemon that is replaced with SIGUSR2 keeps its connections.
@Suite struct HandOverTests {
  @Test("Two hundred connections that call and listen notice nothing of five replacements")
  func connectionsGoOn() throws {
    let desk = try Desk.open()
    let writer = try desk.connect()
    try desk.create("desk", on: writer)
    try desk.logIn(on: writer)
    let lines = try (0..<200).map { _ in try desk.connect() }
    for line in lines { try line.call("events.subscribe", ["instances": ["desk"], "types": ["instanceUpdated"]]) }
    var updates = 0
    for round in 0..<5 {
      let before = lines.map { $0.begin("token.get", ["instance": "desk"]) }
      let update = writer.begin("instance.update", ["instance": "desk", "labels": ["round": .string("\(round)")]])
      try desk.replace()
      let after = lines.map { $0.begin("storage.list", ["instance": "desk"]) }
      #expect(try writer.answer(update)["result"] != nil)
      updates += 1
      for (line, (first, second)) in zip(lines, zip(before, after)) {
        #expect(try line.answer(first)["result"]?["token"] != nil)
        #expect(try line.answer(second)["result"] != nil)
      }
    }
    // Each subscriber has each event once, in order.
    let all = try writer.call("events.list", ["instances": ["desk"], "types": ["instanceUpdated"]])
    let cursors = (all["events"]?.arrayValue ?? []).compactMap { $0["cursor"]?.stringValue }
    #expect(cursors.count == updates)
    for line in lines {
      let heard = try (0..<updates).map { _ in try line.notification("events.event")["event"]?["cursor"]?.stringValue }
      #expect(heard == cursors)
      #expect(!line.notifications.contains { $0["method"] == "daemon.closing" || $0["method"] == "events.event" })
    }
    #expect(desk.handOverReports.count == 5)
    #expect(desk.handOverReports.allSatisfy { $0.contains("Connections of the former daemon: 201 kept.") })
    #expect(desk.stop() == 0)
    #expect(
      !FileManager.default.fileExists(atPath: desk.socket), "the socket that the first daemon bound is left behind")
  }

  @Test("A call that waits for a provider runs again in the next daemon")
  func providerIsAskedAgain() throws {
    let desk = try Desk.openForDrain()
    let line = try desk.connect()
    let folder = desk.folder.path
    let provider = try desk.provider(
      """
      cd '\(folder)'
      [ ! -e asked ] || exec '\(Program.path("sdk-sandbox"))' mint --external-id "$SDKD_EXTERNAL_ID"
      touch asked
      exec sleep 600
      """)
    let call = try desk.beginRefresh(on: line, provider)
    let second = line.begin("token.get", ["instance": "desk", "minTTL": 7200])
    try desk.waits(for: "asked")
    let time = try desk.replace()
    #expect(time < 20)
    #expect(try line.answer(call)["result"]?["fromCache"] == false)
    #expect(try line.answer(second)["result"]?["token"] != nil)
  }

  @Test("A delegate stays attached, and a question is asked again under a new id")
  func delegateStays() throws {
    let desk = try Desk.openForDrain()
    let line = try desk.connect()
    let delegate = try desk.signInWithDelegate(on: line)
    let attached = try desk.events("desk", on: line, "delegateAttached", "delegateDetached").count
    let call = line.begin("token.get", ["instance": "desk", "minTTL": 7200])
    let first = try #require(try delegate.json())
    try desk.replace()
    let cancellation = try #require(try delegate.json())
    #expect(cancellation["method"] == "$/cancelRequest")
    let question = try #require(try delegate.json())
    #expect(question["method"] == first["method"])
    let id = try #require(question["id"])
    #expect(id != first["id"])
    let jwt = try Vendor.mint("alice", ttl: 90_000)
    delegate.send(message: ["jsonrpc": "2.0", "id": id, "result": ["token": .string(jwt)]])
    #expect(try line.answer(call)["result"]?["token"] == .string(jwt))
    #expect(try desk.events("desk", on: line, "delegateAttached", "delegateDetached").count == attached)
    #expect(try line.call("instance.get", ["instance": "desk"])["bridge"]?["attached"] == 1)
  }

  @Test("The delegate that was attached last is still asked first")
  func orderOfDelegates() throws {
    let desk = try Desk.openForDrain()
    let line = try desk.connect()
    // Connections are handed over in no particular order, so that several are needed.
    let first = try desk.signInWithDelegate(on: line)
    let delegates = try [first] + (0..<6).map { _ in try desk.attachDelegate() }
    // Attaching again makes a delegate the latest.
    try delegates[2].call("delegate.attach", ["instances": ["desk"]])
    try desk.replace()
    line.begin("token.get", ["instance": "desk", "minTTL": 7200])
    for expected in [2, 6, 5, 4, 3, 1, 0] {
      let question = try #require(try delegates[expected].json())
      let id = try #require(question["id"])
      delegates[expected].send(message: ["jsonrpc": "2.0", "id": id, "result": ["defer": true]])
    }
  }

  @Test("Output that a client has not read arrives whole after a replacement, and does not delay it")
  func stalledReader() throws {
    let desk = try Desk.openForDrain()
    let quiet = try desk.replace()
    let line = try desk.connect()
    let count = 60
    let calls = (0..<count).map { _ in line.begin("rpc.discover") }
    let other = try desk.connect()
    try other.call("daemon.info")
    let time = try desk.replace()
    #expect(time < quiet + Desk.drainAllowance)
    let known = try other.call("rpc.discover")
    for call in calls { #expect(try line.answer(call)["result"] == known) }
    try line.call("daemon.info")
  }

  @Test("A message that has arrived in part is completed in the next daemon", arguments: [false, true])
  func partOfAMessage(hasHeaders: Bool) throws {
    let desk = try Desk.open()
    let line = try desk.connect(hasHeaders: hasHeaders)
    try line.call("daemon.info")
    let text = #"{"jsonrpc":"2.0","id":"half","method":"daemon.info"}"#
    let message = Array((hasHeaders ? "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" : "\(text)\n").utf8)
    line.send(Array(message.prefix(30)))
    // The bytes have been read when a later connection is answered.
    try desk.connect().call("daemon.info")
    try desk.replace()
    line.send(Array(message.dropFirst(30)))
    let answer = try #require(try line.json())
    #expect(answer["id"] == "half")
    // A fresh connection has no framing yet.
    try line.call("daemon.info")
  }

  @Test("A connection that has said nothing is kept, and one that ends its output later is closed")
  func quietConnections() throws {
    let desk = try Desk.open()
    let silent = try desk.connect()
    let ended = try desk.connect()
    try desk.connect().call("daemon.info")
    try desk.replace()
    try silent.call("daemon.info")
    ended.halfClose()
    #expect(try ended.line() == nil)
  }

  @Test("A login that the vendor has is waited for, and answered on the same connection")
  func loginIsFinished() throws {
    let desk = try Desk.openForDrain()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let before = try desk.vendor.log().count
    try desk.vendor.script(["route": "/**", "delayMs": 1000, "passThrough": true])
    let jwt = try Vendor.mint("alice", ttl: 3600)
    let call = line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    try eventually("the vendor is asked") { try desk.vendor.log().count > before }
    try desk.replace()
    #expect(try line.answer(call)["result"]?["externalId"] == "alice")
  }

  @Test("Events of an instance that change during replacements are delivered once and in order")
  func eventsDuringReplacements() throws {
    let desk = try Desk.open()
    let writer = try desk.connect()
    try desk.create("desk", on: writer)
    let reader = try desk.connect()
    try reader.call("events.subscribe", ["instances": ["desk"], "types": ["instanceUpdated"]])
    var calls: [Int] = []
    for round in 0..<4 {
      for number in 0..<20 {
        calls.append(
          writer.begin("instance.update", ["instance": "desk", "labels": ["n": .string("\(round)-\(number)")]]))
      }
      try desk.replace()
    }
    for call in calls { #expect(try writer.answer(call)["result"] != nil) }
    let all = try writer.call("events.list", ["instances": ["desk"], "types": ["instanceUpdated"], "limit": 200])
    let cursors = (all["events"]?.arrayValue ?? []).compactMap { $0["cursor"]?.stringValue }
    #expect(cursors.count == calls.count)
    let heard = try cursors.map { _ in try reader.notification("events.event")["event"]?["cursor"]?.stringValue }
    #expect(heard == cursors)
  }

  @Test("Limits and roles of the new daemon hold for the connections of the former one")
  func limitsAndRoles() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line, access: ["use": ["uid:1001"]])
    try desk.create("shelf", on: line, access: ["use": ["uid:1001"]])
    let script = """
      lines = [Line() for _ in range(10)]
      before = [reason(line.call("storage.list", instance="desk")) for line in lines]
      lines[0].call("events.subscribe")
      say({"before": before})
      while not os.path.exists(os.path.dirname(path) + "/go"): time.sleep(0.01)
      after = []
      for line in lines:
          try: after.append(reason(line.call("storage.list", instance="desk")) or "closed")
          except ConnectionError: after.append("closed")
      say({"before": before, "after": after})
      """
    let stranger = try Stranger(desk, uid: 1001, script)
    #expect(try stranger.word()["before"] == .array(Array(repeating: .null, count: 10)))
    try desk.write("sdkd.toml", "[limits]\nconnections = 4\n")
    try line.call("instance.update", ["instance": "desk", "access": ["use": []]])
    try desk.replace()
    try desk.write("go", "")
    let after = try #require(try stranger.end()["after"]?.arrayValue).compactMap(\.stringValue)
    #expect(after.count { $0 == "closed" || $0 == "rateLimit" } == 6, "\(after)")
    #expect(after.count { $0 == "instanceNotFound" } == 4, "\(after)")
    #expect(
      desk.handOverReports.last?.contains(
        "Connections of the former daemon: 5 kept, 6 closed; 6 over a limit of connections.") == true,
      "\(desk.handOverReports)")
    #expect(try line.call("daemon.info")["limits"] != nil)
  }

  @Test("A client that has used up its calls gets no new ones by a replacement")
  func rates() throws {
    let desk = try Desk.open(configuration: "[limits]\ncalls_per_second = 20\n")
    let script = """
      line, served = Line(), 0
      begin = time.monotonic()
      def call():
          global served
          answer = line.call("daemon.info")
          if reason(answer) == "rateLimit": return False
          assert "result" in answer, answer
          served += 1
          return True
      while call(): pass
      say("limited")
      while not os.path.exists(os.path.dirname(path) + "/go"): call()
      while call(): pass
      say({"served": served, "seconds": time.monotonic() - begin})
      """
    let client = try Stranger(desk, uid: 1001, script)
    #expect(try client.word() == "limited")
    try desk.replace()
    try desk.write("go", "")
    let said = try client.end()
    let served = try #require(said["served"]?.doubleValue)
    let seconds = try #require(said["seconds"]?.doubleValue)
    // The burst of 40 calls once, and 20 for each second.
    #expect(served <= 41 + 20 * seconds, "\(said)")
    #expect(desk.handOverReports.last?.contains("1 kept.") == true, "\(desk.handOverReports)")
  }

  @Test("READY=1 follows when all connections are adopted and counted")
  func readiness() throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent("notify").path
    let notify = try Datagrams(path)
    // The socket of the metrics does not wait for the adoption.
    let metrics = desk.folder.appendingPathComponent("m.sock").path
    try desk.write("sdkd.toml", "[metrics]\nlisten = \"\(metrics)\"\n")
    try desk.start(environment: ["NOTIFY_SOCKET": path])
    let lines = try (0..<200).map { _ in try desk.connect() }
    for line in lines { try line.call("events.subscribe") }
    var readyCount: Int { notify.received.count { $0.contains("READY=1") } }
    for _ in 0..<3 {
      let before = readyCount
      desk.daemon?.signal(SIGUSR2)
      try eventually("the next daemon is ready", within: 90) { readyCount > before }
      let scrape = try Line(metrics)
      scrape.send("GET /metrics HTTP/1.0\r\nAccept: application/openmetrics-text\r\n\r\n")
      var samples: [String] = []
      while let text = try scrape.line() { samples.append(text) }
      #expect(samples.contains("sdkd_connections_handed_over_total{outcome=\"kept\"} 200"))
      #expect(samples.contains("sdkd_connections_handed_over_total{outcome=\"closed\"} 0"))
    }
    for line in lines { try line.call("daemon.info") }
  }

  // MARK: Bags that can't be read

  /// Starts the program in its arguments with a bag of a kind, whose connection has a peer that notes its end.
  private static let damage = """
    import array, os, socket, sys
    kind, note, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    sending, bag = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer, connection = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    def send(*descriptors):
        sending.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])
    def memory(data):
        file = os.memfd_create("sdkd.bag")
        os.write(file, data)
        return file
    passed = bag
    if kind == "empty": pass
    elif kind == "junk": send(memory(b"junk" * 1000), connection.fileno())
    elif kind == "nothing sealed": send(memory(b""), connection.fileno())
    elif kind == "no state": send(connection.fileno(), connection.fileno())
    elif kind == "a large state":
        file = memory(b"x")
        os.truncate(file, 1 << 32)
        send(file, connection.fileno())
    elif kind == "foreign descriptors":
        listening = socket.socket(); listening.bind(("127.0.0.1", 0)); listening.listen()
        send(memory(b"x"), os.open("/dev/zero", os.O_RDONLY), os.pipe()[0], listening.fileno(), bag.fileno())
    elif kind == "an open end": send(memory(b"x"), connection.fileno())
    elif kind == "messages without end":
        sending.setblocking(False)
        try:
            while True: sending.send(b"x")
        except BlockingIOError: pass
    elif kind == "a file": passed = open("/dev/zero", "rb")
    elif kind == "a stream": passed = connection
    pid = os.fork()
    if pid == 0:
        connection.close(); bag.close()
        if kind != "an open end": sending.close()
        peer.recv(1)
        open(note, "w").close()
        os._exit(0)
    peer.close()
    if kind != "an open end": sending.close()
    target = os.dup(passed.fileno())
    os.dup2(target, 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="sdkd.bag")
    os.execv(words[0], words)
    """

  @Test(
    "A bag that can't be read is closed with its connections, and the daemon starts",
    arguments: [
      "empty", "junk", "nothing sealed", "no state", "a large state", "foreign descriptors", "an open end",
      "messages without end", "a file", "a stream",
    ])
  func damagedBag(kind: String) throws {
    let desk = try Desk()
    let script = try desk.write("damage.py", Self.damage)
    let note = desk.folder.appendingPathComponent("closed").path
    try desk.start(before: "exec /usr/bin/python3 '\(script.path)' '\(kind)' '\(note)' \"$@\"")
    try desk.connect().call("daemon.info")
    try eventually("the connection is closed") { FileManager.default.fileExists(atPath: note) }
    #expect(desk.handOverReports.count == 1)
    #expect(desk.handOverReports.first?.contains("Connections of the former daemon: 0 kept, ") == true)
    try desk.replace()
    try desk.connect().call("daemon.info")
  }

  @Test("A daemon that is killed while it is replaced loses its connections, and nothing else", arguments: 0..<6)
  func killed(round: Int) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let cursor = try line.call("events.subscribe")["cursor"] ?? .null
    let update = line.begin("instance.update", ["instance": "desk", "labels": ["n": "1"]])
    #expect(try line.answer(update)["result"] != nil)
    desk.daemon?.signal(SIGUSR2)
    usleep(UInt32(round * 15_000))
    try desk.crash()
    let later = try desk.connect()
    #expect(try later.call("instance.get", ["instance": "desk"])["labels"]?["n"] == "1")
    try later.call("events.subscribe", ["since": cursor])
    #expect(try later.notification("events.event")["event"]?["type"] == "instanceUpdated")
  }
}
