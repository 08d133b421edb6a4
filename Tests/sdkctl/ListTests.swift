import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

/// Lists: what an empty one says, the last error, the formats, and verbs whose words can stand in either order.
struct ListTests {
  private let run = Run()

  @Test("An empty list says so on standard error, and stays an empty list in JSON")
  func emptyLists() async {
    let answer: @Sendable (String, JSON) -> JSON = { method, _ in
      method == "daemon.info" ? ["kinds": ["zendesk.messaging", "zendesk.chat"]] : ["instances": []]
    }
    #expect(await run.status("list", answer: answer) == 0)
    #expect(run.output.isEmpty)
    #expect(run.errors == "No instances that you can see. sdkctl whoami shows your rights.\n")
    let admin = Run()
    _ = await admin.status("list") { method, params in
      method == "daemon.info" ? ["paths": ["state": "/s"]] : answer(method, params)
    }
    #expect(admin.errors.hasSuffix("shows your rights, sdkctl create makes one.\n"))
    let kind = Run()
    #expect(await kind.status("list", "--kind", "zendesk.mesaging", answer: answer) == 0)
    #expect(kind.errors == "The daemon has no kind zendesk.mesaging; did you mean zendesk.messaging?\n")
    let json = Run()
    #expect(await json.status("list", "-o", "json", answer: answer) == 0)
    #expect(json.output == "[]\n" && json.errors.isEmpty)
    let storage = Run()
    #expect(await storage.status("storage", "list", "kiosk") { _, _ in ["keys": []] } == 0)
    #expect(storage.errors == "kiosk keeps no values.\n")
  }

  @Test("A user whom the vendor has not been asked about is shown as one who signs in on use")
  func pendingSignIn() async {
    var instance = Samples.instance("chat", state: "anonymous", user: nil).objectValue ?? [:]
    instance["signIn"] = "onUse"
    let answer = instance
    _ = await run.status("list", "--no-headers") { _, _ in ["instances": [.object(answer)]] }
    #expect(run.output == "chat  test.kind  signs in on use  -  -  -\n")
  }

  @Test("Action and instance stand in either order")
  func eitherOrder() async {
    for line in [["storage", "get", "kiosk", "k"], ["storage", "kiosk", "get", "k"]] {
      #expect(await run.status(line) { _, _ in ["value": 1, "storageEpoch": "e"] } == 0)
      #expect(run.calls.last == .init(method: "storage.get", params: ["instance": "kiosk", "key": "k"]))
    }
    for line in [["push", "unregister", "kiosk", "p"], ["push", "kiosk", "unregister", "p"]] {
      #expect(await run.status(line) == 0)
      #expect(run.calls.last == .init(method: "push.unregister", params: ["instance": "kiosk", "id": "p"]))
    }
    // An instance can be named like an action.
    _ = await run.status("storage", "list", "get", "k") { _, _ in ["value": 1, "storageEpoch": "e"] }
    #expect(run.calls.last == .init(method: "storage.get", params: ["instance": "list", "key": "k"]))
  }

  @Test("The last error is shown while it matters, with its age")
  func lastErrors() {
    let now = Timestamp(secondsSince1970: 1_000_300)
    func text(_ state: String, _ reason: String) -> String? {
      LastError(of: [
        "state": .string(state),
        "lastError": ["reason": .string(reason), "at": .string(Timestamp(secondsSince1970: 1_000_000).description)],
      ])?.text(at: now)
    }
    #expect(text("reauthNeeded", "expiredJWT") == "expiredJWT, 5 min ago")
    #expect(text("noUser", "invalidAuth") == "invalidAuth, 5 min ago")
    #expect(text("authenticated", "expiredJWT") == nil)
    #expect(text("authenticated", "network") == "network, 5 min ago")
    #expect(text("authenticated", "providerDenied") == "providerDenied, 5 min ago")
    #expect(text("authenticated", "aReasonOfALaterVersion") == "aReasonOfALaterVersion, 5 min ago")
    #expect(LastError(of: ["state": "locked"]) == nil)
  }

  @Test("Tables can be printed without their header")
  func noHeaders() async {
    _ = await run.status("list", "--no-headers") { _, _ in ["instances": [Samples.instance("a")]] }
    #expect(run.output == "a  test.kind  authenticated  alice  -  -\n")
  }

  @Test("-o name prints what each object is called, --json the same as -o json")
  func names() async {
    let answer: @Sendable (String, JSON) -> JSON = { _, _ in
      ["instances": [Samples.instance("a"), Samples.instance("b")]]
    }
    #expect(await run.status("list", "-o", "name", answer: answer) == 0)
    #expect(run.output == "a\nb\n")
    let one = Run()
    #expect(await one.status("show", "kiosk", "-o", "name") { _, _ in Samples.instance("kiosk") } == 0)
    #expect(one.output == "kiosk\n")
    let keys = Run()
    #expect(await keys.status("storage", "list", "kiosk", "-o", "name") { _, _ in ["keys": [["key": "k"]]] } == 0)
    #expect(keys.output == "k\n")
    let none = Run()
    #expect(await none.status("list", "-o", "name") { _, _ in ["instances": []] } == 0)
    #expect(none.output.isEmpty && none.errors.isEmpty)
    let (short, long) = (Run(), Run())
    #expect(await short.status("ls", "--json", answer: answer) == 0)
    #expect(await long.status("list", "-o", "json", answer: answer) == 0)
    #expect(short.output == long.output && !short.output.isEmpty)
  }

  @Test("An instance is shown again only if it differs in what is shown")
  func shownOnce() throws {
    let now = Timestamp(secondsSince1970: 1_790_000_000)
    for (isRow, expected) in [(true, [true, false, true, false, true]), (false, [true, false, true, true, true])] {
      var shown = ShownInstances()
      var signedOut = try #require(Samples.instance("a", state: "loggedOut", user: nil).objectValue)
      let out = JSON.object(signedOut)
      signedOut["storageEpoch"] = "other"
      let steps = [Samples.instance("a"), Samples.instance("a"), out, .object(signedOut), Samples.instance("a")]
      #expect(steps.map { shown.takes($0, isRow: isRow, now: now) } == expected)
      #expect(shown.takes(Samples.instance("b"), isRow: isRow, now: now) == true)
      shown.forget(try #require(InstanceID("a")))
      #expect(shown.takes(Samples.instance("a"), isRow: isRow, now: now) == true)
    }
  }

  @Test("A health check that is ok has no complaint behind that word")
  func okWithARemark() async {
    _ = await run.status("status") { method, _ in
      switch method {
      case "daemon.health":
        [
          "status": "ok",
          "checks": [
            ["name": "state", "status": "ok"], ["name": "instances", "status": "ok", "detail": "need help: a"],
            ["name": "disk", "status": "degraded", "detail": "nearly full"],
          ],
        ]
      default: [:]
      }
    }
    #expect(run.output.contains("  state      ok\n"), "\(run.output)")
    #expect(run.output.contains("  instances  need help: a\n"))
    #expect(run.output.contains("  disk       degraded: nearly full\n"))
  }

  @Test("YAML quotes what could be read as something else")
  func yaml() async {
    let value: JSON = [
      "text": "word", "list": [["a": 1, "b": []], "x", [1, 2]], "yes": "no", "number": "12", "empty": "",
      "colon": "a: b",
      "nothing": nil, "inner": ["deep": true], "none": [:], "date": "2026-01-02T03:04:05.678Z", "two": "a\nb",
    ]
    _ = await run.status("call", "a.b", "-o", "yaml") { _, _ in value }
    #expect(
      run.output == #"""
        text: word
        list:
          - a: 1
            b: []
          - x
          - - 1
            - 2
        "yes": "no"
        number: "12"
        empty: ""
        colon: "a: b"
        nothing: null
        inner:
          deep: true
        none: {}
        date: "2026-01-02T03:04:05.678Z"
        two: "a\nb"

        """#)
    let list = Run()
    _ = await list.status("list", "-o", "yaml") { _, _ in ["instances": [["instance": "a"], ["instance": "b"]]] }
    #expect(list.output == "- instance: a\n- instance: b\n")
  }

  @Test("A token's id, end and lifetime are shown, the token is not")
  func tokenMembers() async {
    let session: JSON = ["visible": true, "token": Samples.token]
    _ = await run.status("open", "kiosk") { _, _ in session }
    #expect(run.output.contains("token.tokenId") && run.output.contains("0011223344556677"))
    #expect(!run.output.contains("s3cret"))
  }

  @Test("whoami shows the caller's roles")
  func whoami() async throws {
    let denied = SDKError(.access, .accessDenied, "No.").rpcError
    let status = await run.status("whoami", "-o", "json") { method, _ in
      switch method {
      case "daemon.metrics": throw denied
      case "instance.list": return ["instances": [Samples.instance("a")]]
      default: return [:]
      }
    }
    #expect(status == 0)
    let result = try JSONParser.parse(run.output)
    #expect(result["admin"] == false && result["roles"] == ["a": "use"], "\(result)")
  }
}
