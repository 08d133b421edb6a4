import JSONRPC
import Testing

@testable import sdkctl

struct KindMethodTests {
  private let run = Run()

  private func answer(_ method: String, _ params: JSON) -> JSON {
    switch method {
    case "instance.get": Samples.instance("kiosk")
    case "rpc.discover": Samples.document
    default: ["done": true]
    }
  }

  @Test func loginFindsTheKindsMethod() async {
    let status = await run.status("login", "kiosk", input: "a.b.c\n", answer: answer)
    #expect(status == 0)
    #expect(run.calls.last == .init(method: "test.signIn", params: ["instance": "kiosk", "jwt": "a.b.c"]))
    #expect(run.calls.map(\.method) == ["instance.get", "rpc.discover", "test.signIn"])
  }

  @Test func logoutReadsNothing() async {
    _ = await run.status("logout", "kiosk", "--local-only", input: "not read", answer: answer)
    #expect(run.calls.last == .init(method: "test.signOut", params: ["instance": "kiosk", "localOnly": true]))
  }

  @Test func waitingIsAskedOfKindsThatAnswerBefore() async {
    _ = await run.status("logout", "kiosk", "--wait", answer: answer)
    #expect(run.calls.last?.params == ["instance": "kiosk"])
    let slow: JSON = [
      "methods": [
        Samples.method("test.out", kind: "test.kind", verb: "logout", input: "none", params: ["instance", "wait"])
      ]
    ]
    _ = await run.status("logout", "kiosk", "--wait") { method, params in
      method == "rpc.discover" ? slow : answer(method, params)
    }
    #expect(run.calls.last?.params == ["instance": "kiosk", "wait": true])
  }

  @Test func jsonGoesWhereTheDocumentSays() async {
    _ = await run.status(
      "identity", "kiosk", "--param", "onChange=refuse", input: #"{"type":"jwt"}"#, answer: answer)
    #expect(
      run.calls.last?.params == ["instance": "kiosk", "identity": ["type": "jwt"], "onChange": "refuse"])
  }

  @Test func withoutAMemberTheJSONIsTheParams() throws {
    let method = try KindMethod.find(verb: "login", kind: "other.kind", in: Samples.document)
    let id = try #require(InstanceIDs.kiosk)
    let params = try method.params(instance: id, read: Array(#"{"user":{"a":1}}"#.utf8), extra: [:])
    #expect(params == ["instance": "kiosk", "user": ["a": 1]])
    #expect(throws: CommandFailure.self) { try method.params(instance: id, read: Array("[1]".utf8), extra: [:]) }
  }

  @Test func anUnknownParamIsNotSent() async {
    #expect(await run.status("logout", "kiosk", "--param", "localonly=1", answer: answer) == 2)
    #expect(run.errors.contains("test.signOut has no localonly."))
    #expect(run.errors.contains("did you mean localOnly?"))
    #expect(!run.calls.map(\.method).contains("test.signOut"))
  }

  @Test func aKindWithoutTheVerb() {
    #expect(throws: CommandFailure.self) {
      try KindMethod.find(verb: "login", kind: "third.kind", in: Samples.document)
    }
  }

  @Test("Params that the daemon refuses come with the place of the example")
  func refusedParams() async {
    let status = await run.status("login", "kiosk", input: "a.b.c\n") { method, params in
      guard method != "test.signIn" else { throw RPCError(code: -32602, reason: "invalidParams", message: "No.") }
      return answer(method, params)
    }
    #expect(status == 2)
    #expect(run.errors.contains("hint: sdkctl explain test.signIn shows the params with an example"), "\(run.errors)")
  }

  @Test("login takes the answer of a token endpoint, as a text and as the contract's members")
  func tokenEndpoints() async throws {
    let answer = #"{"access_token":"a.b.c","token_type":"Bearer","expires_in":3600}"#
    #expect(await run.status("login", "kiosk", input: answer, answer: self.answer) == 0)
    #expect(run.calls.last?.params == ["instance": "kiosk", "jwt": "a.b.c"])
    let refused = Run()
    #expect(await refused.status("login", "kiosk", input: #"{"error":"invalid_grant"}"#, answer: self.answer) == 1)
    #expect(refused.errors.contains("The token endpoint has refused: invalid_grant. (input)"))

    let shape: JSON = ["properties": ["instanceUrl": [:], "accessToken": [:], "refreshToken": [:], "identityUrl": [:]]]
    let command: JSON = ["verb": "login", "input": "json", "member": "settings"]
    let document: JSON = [
      "methods": [
        [
          "name": "own.set",
          "params": [
            ["name": "instance"],
            ["name": "settings", "schema": ["oneOf": [["$ref": "#/components/schemas/S"], ["type": "null"]]]],
          ],
          "x-sdkd": ["kind": "own.kind", "commands": [command]],
        ]
      ],
      "components": ["schemas": ["S": shape]],
    ]
    let method = try KindMethod.find(verb: "login", kind: "own.kind", in: document)
    let salesforce =
      #"{"access_token":"a","refresh_token":"r","instance_url":"https://a.example","id":"https://i","#
      + #""scope":"chat","signature":"s","issued_at":"1"}"#
    let id = try #require(InstanceIDs.kiosk)
    #expect(
      try method.params(instance: id, read: Array(salesforce.utf8), extra: [:])["settings"] == [
        "accessToken": "a", "refreshToken": "r", "instanceUrl": "https://a.example", "identityUrl": "https://i",
      ])
    let own = #"{"accessToken":"a","x":1}"#
    #expect(
      try method.params(instance: id, read: Array(own.utf8), extra: [:])["settings"] == ["accessToken": "a", "x": 1])
  }

  @Test("A kind without a method of its own for the verb gets the common one")
  func aCommonMethod() throws {
    func method(_ name: String, _ extra: JSONObject) -> JSON {
      var extra = extra
      extra["commands"] = [["verb": "identity", "input": "none"]]
      return ["name": .string(name), "params": [["name": "instance"]], "x-sdkd": .object(extra)]
    }
    let document: JSON = [
      "methods": [method("instance.currentUser", [:]), method("own.getIdentity", ["kind": "own.kind"])]
    ]
    #expect(try KindMethod.find(verb: "identity", kind: "own.kind", in: document).name == "own.getIdentity")
    #expect(try KindMethod.find(verb: "identity", kind: "third.kind", in: document).name == "instance.currentUser")
  }

  @Test(arguments: ["", "\n", "one\ntwo"])
  func aTextIsOneLine(_ text: String) async {
    #expect(await run.status("login", "kiosk", input: text, answer: answer) == 1)
    #expect(!run.calls.map(\.method).contains("test.signIn"))
  }

  @Test func aBadInputIsNotShown() async {
    #expect(await run.status("identity", "kiosk", input: "s3cret", answer: answer) == 1)
    #expect(!run.errors.contains("s3cret"))
  }

  @Test func aVerbSetsItsOwnMembers() throws {
    let method = try KindMethod.find(verb: "logout", kind: "fixed.kind", in: Samples.document)
    let id = try #require(InstanceIDs.kiosk)
    let params = try method.params(instance: id, read: nil, extra: ["service": "cases"])
    #expect(method.name == "other.login")
    #expect(params == ["instance": "kiosk", "user": nil, "service": "cases"])
  }
}
