import Foundation
import JSONRPC
import Testing

/// Delegates: connections that supply credentials for an instance, on the real socket.
@Suite struct DelegateTests {
  /// Opens a desk whose user is signed in with a token that lives for `ttl` seconds.
  private func desk(
    _ provider: String? = nil, ttl: Int = 3600, configuration: String? = nil
  ) throws -> (Desk, Line, first: String) {
    let desk = try Desk.open(configuration: configuration)
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
      provider: try provider.map { try desk.provider($0) })
    let first = try Vendor.mint("alice", ttl: ttl)
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
    return (desk, line, first)
  }

  private static let mint = "'\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""

  private func attach(_ desk: Desk, timeout: JSON? = nil) throws -> Line {
    let line = try desk.connect()
    try attach(line, timeout: timeout)
    return line
  }

  private func attach(_ line: Line, timeout: JSON? = nil) throws {
    var params: JSONObject = ["instances": ["desk"]]
    params["timeout"] = timeout
    #expect(try line.call("delegate.attach", .object(params)) == [:])
  }

  /// Returns the daemon's next request on a connection that makes no calls of its own.
  private func question(_ line: Line) throws -> JSON {
    let message = try #require(try line.json())
    #expect(message["method"]?.stringValue?.hasPrefix("delegate.") == true, "\(JSONWriter.text(of: message))")
    #expect(message["id"] != nil)
    return message
  }

  private func send(_ line: Line, _ message: JSONObject) {
    line.send(JSONWriter.bytes(of: .object((["jsonrpc": "2.0"] as JSONObject).merged(with: message))) + [10])
  }

  private func answer(_ line: Line, _ question: JSON, _ result: JSON) {
    send(line, ["id": question["id"] ?? .null, "result": result])
  }

  private func refuse(_ line: Line, _ question: JSON, code: Int, _ reason: String) {
    let error = RPCError(code: code, reason: reason, message: "So be it.")
    send(line, ["id": question["id"] ?? .null, "error": error.json])
  }

  /// Expects the members of the example that the daemon's own contract has of a question.
  private func expectMembersOfExample(_ question: JSON, in desk: Desk) throws {
    let name = try #require(question["method"]?.stringValue)
    let contract = try desk.connect().call("rpc.discover")
    let example = try #require(ContractExamples.example(of: name, in: contract), "\(name)")
    #expect(Self.names(question["params"] ?? .null) == Self.names(.object(example.params)), "\(name)")
  }

  /// Returns the names of all members of a value. Those of an inner object follow its name and a dot.
  private static func names(_ json: JSON) -> Set<String> {
    var found: Set<String> = []
    for member in json.objectValue?.members ?? [] {
      found.insert(member.key)
      found.formUnion(names(member.value).map { "\(member.key).\($0)" })
    }
    return found
  }

  private func types(_ line: Line) throws -> [String] {
    try line.call("events.list")["events"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
  }

  private func attached(_ line: Line) throws -> Int? {
    try line.call("instance.get", ["instance": "desk"])["bridge"]?["attached"]?.intValue
  }

  @Test func anExpiredTokenIsRenewed() throws {
    let (desk, line, first) = try desk(ttl: Vendor.shortLife)
    let delegate = try attach(desk)
    try desk.waitForTheEnd(on: line)
    let id = line.begin("token.get", ["instance": "desk"])
    let question = try question(delegate)
    #expect(question["method"] == "delegate.invalidAuth")
    let params = try #require(question["params"]?.objectValue)
    #expect(params["version"] == 1)
    #expect(params["question"] == "invalidAuth")
    #expect(params["instance"] == "desk")
    #expect(params["kind"] == "zendesk.messaging")
    #expect(params["user"]?["externalId"] == "alice")
    #expect(params["error"]?["reason"] == "expiredJWT")
    #expect(params["deadline"]?.stringValue != nil)
    try expectMembersOfExample(question, in: desk)
    #expect(!JSONWriter.text(of: question).contains(first))
    let fresh = try Vendor.mint("alice")
    answer(delegate, question, ["token": .string(fresh)])
    let token = try line.answer(id)["result"]
    #expect(token?["token"] == .string(fresh))
    #expect(try line.call("instance.get", ["instance": "desk"])["state"] == "authenticated")
  }

  @Test func theLatestIsAskedFirstAndDeferringPassesItOn() throws {
    let (desk, line, _) = try desk()
    let (one, two) = (try attach(desk), try attach(desk))
    #expect(try attached(line) == 2)
    let id = line.begin("token.refresh", ["instance": "desk"])
    let latest = try question(two)
    try expectMembersOfExample(latest, in: desk)
    answer(two, latest, ["defer": true])
    let fresh = try Vendor.mint("alice")
    answer(one, try question(one), ["token": .string(fresh), "expiresAt": 4_000_000_000])
    #expect(try line.answer(id)["result"]?["token"] == .string(fresh))
    try attach(one)
    let again = line.begin("token.refresh", ["instance": "desk"])
    answer(one, try question(one), ["token": .string(try Vendor.mint("alice"))])
    #expect(try line.answer(again)["result"]?["fromCache"] == false)
    #expect(try types(line).filter { $0.hasPrefix("delegate") } == ["delegateAttached", "delegateAttached"])
  }

  @Test func whoVanishesInTheMiddlePassesTheQuestionOnToTheNextAndThenToTheProvider() throws {
    let (desk, line, first) = try desk("exec \(Self.mint)")
    let early = try attach(desk)
    var late: Line? = try attach(desk)
    let id = line.begin("token.refresh", ["instance": "desk"])
    _ = try question(try #require(late))
    late = nil
    refuse(early, try question(early), code: -32603, "internalError")
    let token = try line.answer(id)["result"]
    #expect(token?["token"]?.stringValue?.isEmpty == false)
    #expect(token?["token"] != .string(first))
    try eventually("it is detached") { try attached(line) == 1 }
    try eventually("that is told") { try types(line).contains("delegateDetached") }
    #expect(try line.call("instance.get", ["instance": "desk"])["bridge"]?["state"] == "closed")
  }

  @Test func aWrongAnswerIsPassedOnAndItsSecretIsSaidToNobody() throws {
    let (desk, line, _) = try desk("exec \(Self.mint)")
    let delegate = try attach(desk)
    let id = line.begin("token.refresh", ["instance": "desk"])
    answer(delegate, try question(delegate), ["tokne": "hush-hush"])
    #expect(try line.answer(id)["result"]?["fromCache"] == false)
    #expect(!desk.logs.contains("hush"))
  }

  @Test func whoTakesTooLongIsToldThatNoAnswerIsNeeded() throws {
    let (desk, line, _) = try desk("exec \(Self.mint)")
    let delegate = try attach(desk, timeout: "300ms")
    let id = line.begin("token.refresh", ["instance": "desk"])
    let question = try question(delegate)
    #expect(try delegate.notification("$/cancelRequest")["id"] == question["id"])
    #expect(try line.answer(id)["result"]?["fromCache"] == false)
    // A response after the time-out has no effect.
    let late = try Vendor.mint("alice", ttl: 7200)
    answer(delegate, question, ["token": .string(late)])
    #expect(try delegate.call("token.get", ["instance": "desk"])["token"] != .string(late))
  }

  @Test func aDelegateIsAskedWhileTheProvidersBreakerIsOpen() throws {
    let (desk, line, _) = try desk("exit 1")
    // The first pause is a random time below a second, and can be over at once.
    try eventually("the breaker is open") {
      #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerFailed")
      return try line.call("instance.get", ["instance": "desk"])["bridge"]?["state"] == "open"
    }
    let delegate = try attach(desk)
    let id = line.begin("token.get", ["instance": "desk", "minTTL": 7200])
    let fresh = try Vendor.mint("alice", ttl: 9000)
    answer(delegate, try question(delegate), ["token": .string(fresh)])
    #expect(try line.answer(id)["result"]?["token"] == .string(fresh))
  }

  @Test func aDenialLogsOut() throws {
    let (desk, line, _) = try desk("exec \(Self.mint)", ttl: Vendor.shortLife)
    let delegate = try attach(desk)
    try desk.waitForTheEnd(on: line)
    let id = line.begin("token.get", ["instance": "desk"])
    refuse(delegate, try question(delegate), code: -32040, "providerDenied")
    #expect(try line.answer(id)["error"]?["data"]?["reason"]?.stringValue != nil)
    try eventually("the user is logged out") {
      try line.call("instance.get", ["instance": "desk"])["state"] == "loggedOut"
    }
    let events = try line.call("events.list", ["types": ["userLoggedOut"]])["events"]?.arrayValue ?? []
    #expect(events.map { $0["data"]?["cause"] } == ["implicit"])
  }

  @Test func withoutAProviderADelegateThatFailsIsTheReason() throws {
    let (desk, line, first) = try desk()
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "noProvider")
    let delegate = try attach(desk, timeout: 0.2)
    func failure(_ respond: (JSON) -> Void) throws -> RPCError? {
      let id = line.begin("token.refresh", ["instance": "desk"])
      respond(try question(delegate))
      return try line.answer(id)["error"].flatMap { RPCError(json: $0) }
    }
    let failed = try failure { refuse(delegate, $0, code: -32603, "internalError") }
    #expect(failed?.reason == "providerFailed")
    #expect(failed?.isRetryable == true)
    let late = try failure { _ in }
    #expect(late?.reason == "providerTimeout")
    _ = try delegate.notification("$/cancelRequest")
    #expect(try failure { answer(delegate, $0, ["defer": true]) }?.reason == "noProvider")
    try delegate.call("delegate.detach")
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "noProvider")
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(first))
    #expect(try line.call("instance.get", ["instance": "desk"])["bridge"]?["state"] == "closed")
  }

  @Test func afterARestartTheDelegateIsWaitedFor() throws {
    let (desk, _, _) = try desk()
    var delegate: Line? = try attach(desk)
    // The note that carries the attachment over a restart is written concurrently with the response.
    let note = desk.state.appendingPathComponent("delegates.json")
    try eventually("it is noted") { ((try? String(contentsOf: note, encoding: .utf8)) ?? "").count > 2 }
    try desk.crash()
    delegate = nil
    #expect(delegate == nil)
    let line = try desk.connect()
    let id = line.begin("token.refresh", ["instance": "desk"])
    let back = try attach(desk)
    let fresh = try Vendor.mint("alice")
    answer(back, try question(back), ["token": .string(fresh)])
    #expect(try line.answer(id)["result"]?["token"] == .string(fresh))
  }

  @Test func theGraceEndsWithoutALogout() throws {
    let (desk, line, first) = try desk(configuration: "[delegate]\ngrace = \"500ms\"\n")
    var delegate: Line? = try attach(desk)
    let id = line.begin("token.refresh", ["instance": "desk"])
    _ = try question(try #require(delegate))
    delegate = nil
    let error = try line.answer(id)["error"].flatMap { RPCError(json: $0) }
    #expect(error.map { ["providerFailed", "providerTimeout"].contains($0.reason) } == true)
    #expect(error?.isRetryable == true)
    try eventually("the grace is over") {
      try line.failure("token.refresh", ["instance": "desk"]).reason == "noProvider"
    }
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(first))
    #expect(try line.call("instance.get", ["instance": "desk"])["state"] == "authenticated")
  }

  @Test("A token that ends in the grace of a delegate is expired after it", arguments: [false, true])
  func expiryInTheGrace(restarts: Bool) throws {
    let (desk, line, _) = try desk(ttl: 2, configuration: "[delegate]\ngrace = \"3s\"\n")
    func state(_ line: Line) throws -> JSON? { try line.call("instance.get", ["instance": "desk"])["state"] }
    var delegate: Line? = try attach(desk)
    if restarts {
      let note = desk.state.appendingPathComponent("delegates.json")
      try eventually("it is noted") { ((try? String(contentsOf: note, encoding: .utf8)) ?? "").count > 2 }
      try desk.crash()
    }
    delegate = nil
    #expect(delegate == nil)
    let again = restarts ? try desk.connect() : line
    try eventually("it is expired") { try state(again) == "reauthNeeded" }
    #expect(try types(again).last == "authenticationFailed")
  }

  @Test func theIdsOfBothDirectionsAreSeparate() throws {
    let (desk, _, _) = try desk()
    let line = try desk.connect()
    try attach(line)
    // The connection makes a call and receives a request; the id of its call looks like one of the daemon's.
    send(line, ["id": "d1", "method": "token.refresh", "params": ["instance": "desk"]])
    let question = try question(line)
    #expect(question["id"]?.stringValue != nil)
    let fresh = try Vendor.mint("alice")
    answer(line, question, ["token": .string(fresh)])
    let message = try #require(try line.json())
    #expect(message["id"] == "d1")
    #expect(message["result"]?["token"] == .string(fresh))
  }

  @Test func detachingAndTheEndAreTold() throws {
    let (desk, line, _) = try desk()
    var delegate: Line? = try attach(desk)
    #expect(try attached(line) == 1)
    #expect(try delegate?.call("delegate.detach", ["instances": ["desk"]]) == [:])
    #expect(try attached(line) == 0)
    try attach(try #require(delegate))
    delegate = nil
    try eventually("the end is noticed") { try attached(line) == 0 }
    try eventually("both are told") {
      try types(line).filter { $0.hasPrefix("delegate") }
        == ["delegateAttached", "delegateDetached", "delegateAttached", "delegateDetached"]
    }
  }

  @Test func whoIsAttachedIsToldThatTheDaemonCloses() throws {
    let (desk, _, _) = try desk()
    let delegate = try attach(desk)
    desk.daemon?.signal(SIGTERM)
    #expect(try delegate.notification("daemon.closing")["graceSeconds"] != nil)
    #expect(desk.daemon?.exit(within: 30) == 0)
  }

  @Test("A delegate is asked with which settings Salesforce is used, and what to do when they are refused")
  func salesforce() throws {
    let desk = try ServiceDesk()
    let delegate = try desk.desk.connect()
    try attach(delegate)
    let grant = try desk.grant()
    let first = desk.line.begin("session.open", desk.params())
    let wanted = try question(delegate)
    #expect(wanted["method"] == "delegate.shouldAuthenticate")
    #expect(wanted["params"]?["service"] == "chat")
    try expectMembersOfExample(wanted, in: desk.desk)
    answer(delegate, wanted, ["authenticate": true, "settings": ServiceDesk.settings(grant)])
    #expect(try desk.line.answer(first)["result"]?["user"]?["authenticated"] == true)
    try desk.revoke()
    let second = desk.line.begin("token.refresh", desk.params())
    let refused = try question(delegate)
    #expect(refused["method"] == "delegate.authenticationFailed")
    #expect(refused["params"]?["error"]?["reason"] == "invalidGrant")
    try expectMembersOfExample(refused, in: desk.desk)
    answer(delegate, refused, ["proceed": false])
    #expect(try desk.line.answer(second)["error"] != nil)
    #expect(try desk.user()["authenticated"] == false)
  }

  @Test("A person has 10 minutes to sign in, and the answer counts after the caller has left")
  func aPersonsAnswer() throws {
    let desk = try Desk()
    let clock = try MovableClock(in: desk)
    try desk.start(environment: clock.environment)
    let line = try desk.connect()
    try desk.create(
      "desk", kind: "salesforce.chat", on: line, settings: try KindSample.salesforce.settings(desk.vendor))
    let delegate = try attach(desk)
    var caller: Line? = try desk.connect()
    caller?.begin("session.open", ["instance": "desk", "service": "cases", "timeout": 2])
    let wanted = try question(delegate)
    #expect(wanted["method"] == "delegate.shouldAuthenticate")
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let deadline = try #require(formatter.date(from: wanted["params"]?["deadline"]?.stringValue ?? ""))
    #expect((580...601).contains(deadline.timeIntervalSinceNow), "\(deadline)")
    // The caller's own time is over, and then its connection.
    #expect(try caller?.json()?["error"]?["data"]?["reason"] == "timeout")
    caller = nil
    try clock.move(to: 590)
    let grant = try desk.vendor.request("POST", "/_grant", ["user": "alice"])
    answer(delegate, wanted, ["authenticate": true, "settings": ServiceDesk.settings(grant)])
    try eventually("the user is signed in") { try types(line).contains("userLoggedIn") }
    let token = try line.call("token.get", ["instance": "desk", "service": "cases"])
    #expect(token["token"] == grant["access_token"])
    #expect(delegate.notifications.allSatisfy { $0["method"] == "delegate.shouldAuthenticate" })
  }
}
