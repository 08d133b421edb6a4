import Foundation
import Glibc
import JSONRPC
import Testing

/// No peer, provider, delegate or repeatable request makes a stop longer. `FinishedRequestTests` has what it waits for.
@Suite struct DrainTests {
  // MARK: Peers that do not read

  /// Scripts of clients that make a connection end late. Each says `"ready"` when the daemon has something to send.
  private static let clients: [(name: String, script: String)] = [
    (
      "reads nothing",
      """
      line = Line()
      line.socket.setblocking(False)
      request = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\\n'
      try:
          while True: line.socket.send(request)
      except BlockingIOError: pass
      say("ready")
      time.sleep(600)
      """
    ),
    (
      "reads a few bytes at a time",
      """
      line = Line()
      line.socket.setblocking(False)
      request = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\\n'
      try:
          while True: line.socket.send(request)
      except BlockingIOError: pass
      say("ready")
      line.socket.setblocking(True)
      while line.socket.recv(64): time.sleep(0.05)
      """
    ),
    (
      "sends more than it may",
      """
      line = Line()
      line.socket.setblocking(False)
      try:
          while True: line.socket.send(b"\\n" * 65536)
      except BlockingIOError: pass
      say("ready")
      time.sleep(600)
      """
    ),
    (
      "is a delegate that reads nothing",
      """
      line = Line()
      line.call("delegate.attach", instances=["desk"])
      line.socket.setblocking(False)
      request = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\\n'
      try:
          while True: line.socket.send(request)
      except BlockingIOError: pass
      say("ready")
      time.sleep(600)
      """
    ),
  ]

  @Test("A client that does not read makes a stop no longer", arguments: clients.indices)
  func deafClient(index: Int) throws {
    let (name, script) = Self.clients[index]
    let desk = try Desk.openForDrain()
    try desk.create("desk", on: try desk.connect())
    let quiet = try desk.quietStop()
    // Another user, without any right; a delegate needs one.
    let client = try Stranger(desk, uid: name.contains("delegate") ? 0 : 65534, script)
    #expect(try client.word() == "ready")
    let time = try desk.timedStop()
    #expect(time < quiet + Desk.drainAllowance, "\(name)")
    client.kill()
  }

  // MARK: Calls that the next daemon can run again

  /// A call that waits, and what it needs meanwhile.
  private typealias Begun = (call: Int, kept: [AnyObject])

  private static let repeatable: [(name: String, begin: @Sendable (Desk, Line) throws -> Begun)] = [
    (
      "a program as the provider",
      { desk, line in
        let call = try desk.beginRefresh(
          on: line, try desk.provider("cd '\(desk.folder.path)'; echo $$ >> pids; touch asked; exec sleep 600"))
        try desk.waits(for: "asked")
        return (call, [])
      }
    ),
    (
      "a provider that ignores SIGTERM",
      { desk, line in
        let call = try desk.beginRefresh(
          on: line,
          try desk.provider(
            "trap '' TERM; cd '\(desk.folder.path)'; echo $$ >> pids; touch asked; while :; do sleep 1; done"))
        try desk.waits(for: "asked")
        return (call, [])
      }
    ),
    (
      "a provider that leaves a process behind",
      { desk, line in
        let script = "cd '\(desk.folder.path)'; setsid sleep 600 & echo $! >> pids; touch asked; exec sleep 600"
        let call = try desk.beginRefresh(on: line, try desk.provider(script))
        try desk.waits(for: "asked")
        return (call, [])
      }
    ),
    (
      "a unit as the provider",
      { desk, line in
        let unit = try desk.unit("slow", "touch '\(desk.folder.path)/asked'; trap '' TERM; while :; do sleep 1; done")
        let call = try desk.beginRefresh(on: line, ["unit": "slow"])
        try desk.waits(for: "asked")
        return (call, [unit])
      }
    ),
    (
      "a delegate",
      { desk, line in
        let delegate = try desk.signInWithDelegate(on: line)
        let call = line.begin("token.get", ["instance": "desk", "minTTL": 7200])
        _ = try delegate.json()
        return (call, [delegate])
      }
    ),
    (
      "a delegate that left and may come back",
      { desk, line in
        let delegate = try desk.signInWithDelegate(on: line)
        _ = shutdown(delegate.descriptor, Int32(SHUT_RDWR))
        try eventually("it is detached") {
          try line.call("instance.get", ["instance": "desk"])["bridge"]?["attached"]?.intValue == 0
        }
        return (line.begin("token.get", ["instance": "desk", "minTTL": 7200]), [])
      }
    ),
    (
      "a person who types a password",
      { desk, line in
        try desk.create("desk", .salesforce, user: "alice", on: line)
        let delegate = try desk.attachDelegate()
        let call = line.begin("session.open", ["instance": "desk"])
        _ = try delegate.json()
        return (call, [delegate])
      }
    ),
    (
      "the owner's data for a login",
      { desk, line in
        try desk.create(
          "desk", kind: KindSample.support.kind, on: line, settings: try KindSample.support.settings(desk.vendor),
          provider: try desk.provider("touch '\(desk.folder.path)/asked'; exec sleep 600"))
        let call = line.begin("support.setIdentity", ["instance": "desk", "identity": ["type": "jwt"]])
        try desk.waits(for: "asked")
        return (call, [])
      }
    ),
    (
      "the vendor's check of a renewed token",
      { desk, line in
        let provider = try desk.mintingProvider()
        try desk.create("desk", on: line, settings: Desk.lazy, provider: provider)
        try desk.logIn(on: line)
        let before = try desk.vendor.log().count
        try desk.vendor.script(["route": "/**", "hang": true, "times": "forever"])
        let call = line.begin("token.refresh", ["instance": "desk"])
        try eventually("the vendor is asked") { try desk.vendor.log().count > before }
        return (call, [])
      }
    ),
    (
      "the vendor's exchange of an identity that is kept",
      { desk, line in
        try desk.create("desk", .support, user: "alice", on: line, settings: Desk.lazy)
        try desk.signIn("desk", .support, as: "alice", on: line)
        let before = try desk.vendor.count("POST", "/access/sdk/jwt")
        try desk.vendor.script(["route": "POST /access/sdk/jwt", "hang": true])
        let call = line.begin("token.refresh", ["instance": "desk"])
        try eventually("the vendor is asked") { try desk.vendor.count("POST", "/access/sdk/jwt") > before }
        return (call, [])
      }
    ),
    (
      "a call that came before on its connection",
      { desk, line in
        try desk.create(
          "desk", kind: KindSample.support.kind, on: line, settings: try KindSample.support.settings(desk.vendor),
          provider: try desk.provider("touch '\(desk.folder.path)/asked'; exec sleep 600"))
        line.begin("support.setIdentity", ["instance": "desk", "identity": ["type": "jwt"]])
        try desk.waits(for: "asked")
        return (line.begin("storage.list", ["instance": "desk"]), [])
      }
    ),
  ]

  @Test(
    "A call that waits for a provider, a delegate or a repeatable request is given back to its client at once",
    arguments: repeatable.indices)
  func repeatableCall(index: Int) throws {
    let (name, begin) = Self.repeatable[index]
    let desk = try Desk.openForDrain()
    let quiet = try desk.quietStop()
    let line = try desk.connect()
    let begun = try begin(desk, line)
    let state = try desk.connect().call("instance.get", ["instance": "desk"])["user"]
    let time = try desk.timedStop()
    #expect(time < quiet + Desk.drainAllowance, "\(name)")
    let answer = try line.answer(begun.call)
    #expect(answer["error"]?["data"]?["reason"] == "shuttingDown", "\(name): \(answer)")
    #expect(answer["error"]?["data"]?["retryable"] == true)
    let pids = try? String(contentsOf: desk.folder.appendingPathComponent("pids"), encoding: .utf8)
    for pid in (pids ?? "").split(separator: "\n") { #expect(!isAlive(String(pid)), "\(name) is left behind") }
    // The next daemon finds the state as it was.
    try desk.vendor.clearScripts()
    try desk.start()
    let later = try desk.connect()
    #expect(try later.call("instance.get", ["instance": "desk"])["user"] == state, "\(name)")
    #expect(try desk.events("desk", on: later, "refreshFailed", "authenticationFailed", "userLoggedOut").isEmpty)
    withExtendedLifetime(begun.kept) {}
  }

  @Test("A subscriber is notified of a stop, does not make it longer, and resumes from its cursor")
  func subscriber() throws {
    let desk = try Desk.openForDrain()
    let quiet = try desk.quietStop()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try line.call("events.subscribe", ["instances": ["desk"]])
    let cursor = try line.call("events.list")["cursor"] ?? .null
    let time = try desk.timedStop()
    #expect(time < quiet + Desk.drainAllowance)
    #expect(try line.notification("daemon.closing")["graceSeconds"] == 60)
    #expect(try line.line() == nil)
    try desk.start()
    let later = try desk.connect()
    try desk.logIn(on: later)
    try later.call("events.subscribe", ["instances": ["desk"], "since": cursor])
    #expect(try later.notification("events.event")["event"]?["type"] == "userLoggedIn")
  }

  @Test("The removal of a grant at the vendor is left to the next daemon")
  func cleanup() throws {
    let desk = try Desk.openForDrain()
    let quiet = try desk.quietStop()
    let line = try desk.connect()
    try desk.create("desk", .salesforce, user: "alice", on: line)
    try desk.signIn("desk", .salesforce, as: "alice", on: line)
    try desk.vendor.script(["route": "POST /services/oauth2/revoke", "hang": true])
    let (method, params) = KindSample.salesforce.signOut("desk")
    try line.call(method, .object(params))
    func revocations() throws -> Int { try desk.vendor.count("POST", "/services/oauth2/revoke") }
    try eventually("the vendor is asked") { try revocations() == 1 }
    let time = try desk.timedStop()
    #expect(time < quiet + Desk.drainAllowance)
    try desk.vendor.clearScripts()
    try desk.start()
    try eventually("the next daemon asks again") { try revocations() == 2 }
    let later = try desk.connect()
    try eventually("nothing is left to do") {
      try later.call("instance.get", ["instance": "desk"])["pending"]?.arrayValue?.isEmpty != false
    }
  }

  @Test("A refresh that a stop has given back is sent again by sdkctl")
  func clientsRepeat() throws {
    let desk = try Desk.openForDrain()
    let line = try desk.connect()
    let script = "touch '\(desk.folder.path)/asked'; exec sleep 600"
    try desk.create("desk", on: line, settings: Desk.lazy, provider: try desk.provider(script))
    try desk.logIn(on: line)
    let output = desk.folder.appendingPathComponent("refreshed")
    let client = try Program(
      "sdkctl", ["refresh", "desk", "--template", "{fromCache}"], environment: ["SDKD_SOCKET": desk.socket],
      output: output, log: desk.folder.appendingPathComponent("refresh.err"))
    try desk.waits(for: "asked")
    // The next daemon's run answers.
    _ = try desk.mintingProvider()
    try desk.timedStop()
    try desk.start()
    #expect(client.exit(within: 60) == 0, "\(client.logText)")
    #expect(try String(contentsOf: output, encoding: .utf8).contains("false"))
  }
}
