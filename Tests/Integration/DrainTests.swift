import Foundation
import Glibc
import JSONRPC
import Testing

/// A stop waits for answers that are written, and for vendor requests that must not be sent twice. No peer, provider,
/// delegate or slow vendor can make it longer otherwise.
@Suite struct DrainTests {
  /// A grace that no stop may use up, and the folder of the test's units.
  private static func open() throws -> Desk {
    let desk = try Desk()
    try FileManager.default.createDirectory(at: desk.unitSockets, withIntermediateDirectories: true)
    try desk.write("sdkd.toml", "\(desk.unitConfiguration)[shutdown]\ngrace = \"60s\"\n")
    try desk.start()
    return desk
  }

  /// The seconds that a stop may take longer than a quiet one. The daemon needs at most 0.3; the rest is for a busy
  /// machine. Without a bound of its own, each of these stops would take a minute.
  private static let allowance = 2.0

  /// Stops the daemon, and returns the seconds that this takes.
  private func stop(_ desk: Desk) throws -> Double {
    let start = ContinuousClock.now
    desk.daemon?.signal(SIGTERM)
    let status = desk.daemon?.exit(within: 90)
    #expect(status == 0, "\(desk.daemon?.logText.suffix(500) ?? "")")
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// Returns the seconds that a stop takes while a connection is open that waits for nothing. The daemon runs
  /// afterwards.
  private func quietStop(_ desk: Desk) throws -> Double {
    let line = try desk.connect()
    try line.call("daemon.info")
    let time = try stop(desk)
    try desk.start()
    return time
  }

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
    let desk = try Self.open()
    try desk.create("desk", on: try desk.connect())
    let quiet = try quietStop(desk)
    // Another user, without any right; a delegate needs one.
    let client = try Stranger(desk, uid: name.contains("delegate") ? 0 : 65534, script)
    #expect(try client.word() == "ready")
    let time = try stop(desk)
    #expect(time < quiet + Self.allowance, "\(name)")
    client.kill()
  }

  // MARK: Calls that the next daemon can run again

  /// A call that waits, and what it needs meanwhile.
  private typealias Begun = (call: Int, kept: [AnyObject])

  private static let lazy: JSONObject = ["refresh": ["mode": "lazy", "min_interval": 0]]

  /// Signs alice in, with a provider that runs this script, and begins a refresh.
  private static func refresh(_ desk: Desk, _ line: Line, _ provider: JSON) throws -> Int {
    let slow = (provider.objectValue ?? [:]).merged(with: ["timeout": "10m"])
    try desk.create("desk", on: line, settings: lazy, provider: .object(slow))
    try desk.logIn(on: line)
    return line.begin("token.refresh", ["instance": "desk"])
  }

  private static func attach(_ desk: Desk) throws -> Line {
    let delegate = try desk.connect()
    try delegate.call("delegate.attach", ["instances": ["desk"]])
    return delegate
  }

  private static func waits(for file: String, _ desk: Desk) throws {
    try eventually("\(file) is there") {
      FileManager.default.fileExists(atPath: desk.folder.appendingPathComponent(file).path)
    }
  }

  private static let repeatable: [(name: String, begin: @Sendable (Desk, Line) throws -> Begun)] = [
    (
      "a program as the provider",
      { desk, line in
        let call = try refresh(
          desk, line, try desk.provider("cd '\(desk.folder.path)'; echo $$ >> pids; touch asked; exec sleep 600"))
        try waits(for: "asked", desk)
        return (call, [])
      }
    ),
    (
      "a provider that ignores SIGTERM",
      { desk, line in
        let call = try refresh(
          desk, line,
          try desk.provider(
            "trap '' TERM; cd '\(desk.folder.path)'; echo $$ >> pids; touch asked; while :; do sleep 1; done"))
        try waits(for: "asked", desk)
        return (call, [])
      }
    ),
    (
      "a unit as the provider",
      { desk, line in
        let unit = try desk.unit("slow", "touch '\(desk.folder.path)/asked'; trap '' TERM; while :; do sleep 1; done")
        let call = try refresh(desk, line, ["unit": "slow"])
        try waits(for: "asked", desk)
        return (call, [unit])
      }
    ),
    (
      "a delegate",
      { desk, line in
        let delegate = try signInWithDelegate(desk, line)
        let call = line.begin("token.get", ["instance": "desk", "minTTL": 7200])
        _ = try delegate.json()
        return (call, [delegate])
      }
    ),
    (
      "a delegate that left and may come back",
      { desk, line in
        let delegate = try signInWithDelegate(desk, line)
        _ = shutdown(delegate.descriptor, Int32(SHUT_RDWR))
        try eventually("it is detached") {
          try line.call("instance.get", ["instance": "desk"])["bridge"]?["attached"]?.intValue == 0
        }
        // A token.get that begins as late as the stop would return the cached token.
        return (line.begin("token.refresh", ["instance": "desk"]), [])
      }
    ),
    (
      "a person who types a password",
      { desk, line in
        try desk.create("desk", .salesforce, user: "alice", on: line)
        let delegate = try attach(desk)
        let call = line.begin("session.open", ["instance": "desk"])
        _ = try delegate.json()
        return (call, [delegate])
      }
    ),
    (
      "the owner's data for a login",
      { desk, line in
        try desk.create(
          "desk", kind: "zendesk.support", on: line, settings: try KindSample.support.settings(desk.vendor),
          provider: try desk.provider("touch '\(desk.folder.path)/asked'; exec sleep 600"))
        let call = line.begin("support.setIdentity", ["instance": "desk", "identity": ["type": "jwt"]])
        try waits(for: "asked", desk)
        return (call, [])
      }
    ),
    (
      "the vendor's check of a renewed token",
      { desk, line in
        let provider = try desk.mintingProvider()
        try desk.create("desk", on: line, settings: lazy, provider: provider)
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
        try desk.create("desk", .support, user: "alice", on: line, settings: lazy)
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
          "desk", kind: "zendesk.support", on: line, settings: try KindSample.support.settings(desk.vendor),
          provider: try desk.provider("touch '\(desk.folder.path)/asked'; exec sleep 600"))
        line.begin("support.setIdentity", ["instance": "desk", "identity": ["type": "jwt"]])
        try waits(for: "asked", desk)
        return (line.begin("storage.list", ["instance": "desk"]), [])
      }
    ),
  ]

  /// Signs alice in without a provider, and returns a delegate for her.
  private static func signInWithDelegate(_ desk: Desk, _ line: Line) throws -> Line {
    try desk.create("desk", on: line, settings: lazy)
    try desk.logIn(on: line)
    return try attach(desk)
  }

  @Test(
    "A call that waits for a provider, a delegate or a repeatable request is given back to its client at once",
    arguments: repeatable.indices)
  func repeatableCall(index: Int) throws {
    let (name, begin) = Self.repeatable[index]
    let desk = try Self.open()
    let quiet = try quietStop(desk)
    let line = try desk.connect()
    let begun = try begin(desk, line)
    let state = try desk.connect().call("instance.get", ["instance": "desk"])["user"]
    let time = try stop(desk)
    #expect(time < quiet + Self.allowance, "\(name)")
    let answer = try line.answer(begun.call)
    #expect(answer["error"]?["data"]?["reason"] == "shuttingDown", "\(name): \(answer)")
    #expect(answer["error"]?["data"]?["retryable"] == true)
    let pids = try? String(contentsOf: desk.folder.appendingPathComponent("pids"), encoding: .utf8)
    for pid in (pids ?? "").split(separator: "\n") { #expect(!isAlive(String(pid)), "\(name) is left behind") }
    // Nothing has happened to the instance.
    try desk.vendor.clearScripts()
    try desk.start()
    let later = try desk.connect()
    #expect(try later.call("instance.get", ["instance": "desk"])["user"] == state, "\(name)")
    #expect(try desk.events("desk", on: later, "refreshFailed", "authenticationFailed", "userLoggedOut").isEmpty)
    withExtendedLifetime(begun.kept) {}
  }

  @Test("A refresh that a stop has given back is sent again by sdkctl")
  func clientsRepeat() throws {
    let desk = try Self.open()
    let line = try desk.connect()
    let script = "touch '\(desk.folder.path)/asked'; exec sleep 600"
    try desk.create("desk", on: line, settings: Self.lazy, provider: try desk.provider(script))
    try desk.logIn(on: line)
    let output = desk.folder.appendingPathComponent("refreshed")
    let client = try Program(
      "sdkctl", ["refresh", "desk", "--template", "{fromCache}"], environment: ["SDKD_SOCKET": desk.socket],
      output: output, log: desk.folder.appendingPathComponent("refresh.err"))
    try Self.waits(for: "asked", desk)
    // The next daemon's run answers.
    _ = try desk.mintingProvider()
    _ = try stop(desk)
    try desk.start()
    #expect(client.exit(within: 60) == 0, "\(client.logText)")
    #expect(try String(contentsOf: output, encoding: .utf8).contains("false"))
  }

  // MARK: Requests that must not be sent twice

  /// A call whose request is at the vendor, and what shows later that the request was made once.
  private struct SentOnce: Sendable {
    let name: String
    /// The method and the end of the path of the request.
    let request: (method: String, path: String)
    let begin: @Sendable (Desk, Line) throws -> Int
    /// Whether the state after the restart shows that the call succeeded.
    let holds: @Sendable (Desk, Line) throws -> Bool
  }

  /// Delays the response of a route, so that a stop begins while the request is at the vendor.
  private static func delay(_ route: String, _ desk: Desk) throws {
    try desk.vendor.script(["route": .string(route), "delayMs": 2000, "passThrough": true, "times": 1])
  }

  private static let sentOnce: [SentOnce] = [
    SentOnce(
      name: "a login", request: ("POST", "/login"),
      begin: { desk, line in
        try desk.create("desk", on: line)
        try delay("POST /v2/apps/*/login", desk)
        return line.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
      },
      holds: { desk, line in try desk.user(on: line)["externalId"] == "alice" }),
    SentOnce(
      name: "a logout", request: ("POST", "/logout"),
      begin: { desk, line in
        try desk.create("desk", on: line)
        try desk.logIn(on: line)
        try delay("POST /v2/apps/*/appusers/*/logout", desk)
        return line.begin("messaging.logoutUser", ["instance": "desk"])
      },
      holds: { desk, line in try desk.state(on: line) == "loggedOut" }),
    SentOnce(
      name: "a rotating refresh", request: ("POST", "/services/oauth2/token"),
      begin: { desk, line in
        let settings = try KindSample.salesforce.settings(desk.vendor)
          .merged(with: ["client_id": .string(ServiceDesk.rotating)])
        try desk.create("desk", kind: "salesforce.chat", on: line, settings: settings)
        let grant = try desk.vendor.request(
          "POST", "/_grant", ["user": "alice", "client_id": .string(ServiceDesk.rotating)])
        try line.call(
          "serviceChat.setAuthenticationSettings",
          ["instance": "desk", "service": "cases", "settings": ServiceDesk.settings(grant)])
        try delay("POST /services/oauth2/token", desk)
        return line.begin("token.refresh", ["instance": "desk"])
      },
      holds: { _, line in try line.call("token.get", ["instance": "desk"])["tokenType"] == "accessToken" }),
    SentOnce(
      name: "an anonymous user", request: ("POST", "/appusers"),
      begin: { desk, line in
        try desk.create("desk", on: line)
        try delay("POST /v2/apps/*/appusers", desk)
        return line.begin("session.open", ["instance": "desk"])
      },
      holds: { desk, line in try desk.state(on: line) == "anonymous" }),
    SentOnce(
      name: "an authorization over a WebSocket", request: ("GET", "/api/chat/config"),
      begin: { desk, line in
        try desk.create("desk", .edna, user: "alice", on: line)
        try delay("GET /api/chat/config", desk)
        let (method, params) = try KindSample.edna.signIn(desk.vendor, "desk", "alice")
        return line.begin(method, .object(params))
      },
      holds: { desk, line in try desk.state(on: line) == "authenticated" }),
  ]

  @Test("A vendor request that must not be sent twice is waited for", arguments: sentOnce.indices)
  func sentRequest(index: Int) throws {
    let sample = Self.sentOnce[index]
    let desk = try Self.open()
    let line = try desk.connect()
    let call = try sample.begin(desk, line)
    try eventually("\(sample.name) is at the vendor") {
      try desk.vendor.count(sample.request.method, sample.request.path) >= 1
    }
    _ = try stop(desk)
    let answer = try line.answer(call)
    #expect(answer["result"] != nil, "\(sample.name): \(answer)")
    try desk.start()
    #expect(try sample.holds(desk, try desk.connect()), "\(sample.name)")
    if sample.request.method == "POST" {
      #expect(try desk.vendor.count(sample.request.method, sample.request.path) == 1, "\(sample.name)")
    }
  }

  @Test("A login that waits for a logout at the vendor is not sent any more")
  func queuedLogin() throws {
    let desk = try Self.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    try Self.delay("POST /v2/apps/*/appusers/*/logout", desk)
    let logout = line.begin("messaging.logoutUser", ["instance": "desk"])
    try eventually("the logout is at the vendor") { try desk.vendor.count("POST", "/logout") == 1 }
    let other = try desk.connect()
    let login = other.begin("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("bob"))])
    // A later answer on the connection shows that the login was accepted.
    try other.call("daemon.info")
    _ = try stop(desk)
    #expect(try line.answer(logout)["result"]?["backendInformed"] == true)
    #expect(try other.answer(login)["error"]?["data"]?["reason"] == "shuttingDown")
    #expect(try desk.vendor.count("POST", "/login") == 1)
    try desk.start()
    #expect(try desk.state(on: try desk.connect()) == "loggedOut")
  }
}
