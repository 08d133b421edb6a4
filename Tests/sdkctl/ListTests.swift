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
    #expect(run.errors.hasPrefix("No instances that you can see. "))
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
