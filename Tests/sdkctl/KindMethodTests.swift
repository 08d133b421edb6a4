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
