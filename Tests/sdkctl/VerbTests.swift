import JSONRPC
import SDKClient
import Testing

@testable import sdkctl

/// The verbs that do more than turn their arguments into one call.
struct VerbTests {
  private let run = Run()

  @Test func storageReadsAndWrites() async {
    #expect(await run.status("storage", "kiosk", "put", "k", input: #"{"a":1}"#) == 0)
    #expect(await run.status("storage", "kiosk", "put", "k", "--text", "--epoch", "e1", input: "word") == 0)
    #expect(await run.status("storage", "kiosk", "delete", "k") == 0)
    #expect(
      run.calls == [
        .init(method: "storage.put", params: ["instance": "kiosk", "key": "k", "value": ["a": 1]]),
        .init(
          method: "storage.put", params: ["instance": "kiosk", "key": "k", "value": "word", "storageEpoch": "e1"]),
        .init(method: "storage.delete", params: ["instance": "kiosk", "key": "k"]),
      ])
    #expect(run.output.isEmpty)
  }

  @Test func storageShows() async {
    _ = await run.status("storage", "kiosk", "get", "k") { _, _ in ["value": "word", "storageEpoch": "e"] }
    _ = await run.status("storage", "kiosk", "get", "k", "--text") { _, _ in ["value": "word", "storageEpoch": "e"] }
    _ = await run.status("storage", "kiosk", "list") { _, _ in ["keys": [["key": "k", "bytes": 6]]] }
    #expect(run.output == "\"word\"\nword\nKEY  BYTES\nk    6\n")
  }

  @Test("A missing value is null, and has no text")
  func missingValue() async {
    let answer: @Sendable (String, JSON) -> JSON = { _, _ in ["value": nil, "storageEpoch": "e"] }
    #expect(await run.status("storage", "kiosk", "get", "k", "--text", answer: answer) == 0)
    #expect(run.output.isEmpty)
    #expect(await run.status("storage", "kiosk", "get", "k", answer: answer) == 0)
    #expect(run.output == "null\n")
  }

  @Test func callPrintsJSON() async {
    _ = await run.status("call", "a.b", #"{"x":1}"#) { _, params in params }
    _ = await run.status("call", "a.b", "-", input: #"{"y":[]}"#) { _, params in params }
    _ = await run.status("call", "a.b", "-o", "jsonl") { _, params in params }
    #expect(run.output == "{\n  \"x\": 1\n}\n{\n  \"y\": []\n}\n{}\n")
  }

  @Test("call warns where the effect ends with the command")
  func callOfWhatEnds() async {
    #expect(await run.status("call", "events.subscribe") == 0)
    #expect(run.errors.contains("sdkctl events --follow keeps one"))
  }

  @Test func eventsOfThePastInPages() async throws {
    let answer: @Sendable (String, JSON) -> JSON = { _, params in
      let isFirst = params["since"] == "c0"
      let event: JSON = ["cursor": isFirst ? "c1" : "c2", "time": "T", "instance": "kiosk", "type": "t", "data": [:]]
      return isFirst ? ["events": [event], "cursor": "c1", "next": "c1"] : ["events": [event], "cursor": "c2"]
    }
    _ = await run.status("events", "kiosk", "--since", "c0", "--type", "userLoggedIn", answer: answer)
    #expect(run.output == "T  kiosk  t\nT  kiosk  t\n")
    #expect(run.calls.first?.params["types"] == ["userLoggedIn"])
    let json = Run()
    _ = await json.status("events", "--since", "c0", "-o", "json", answer: answer)
    #expect(try JSONParser.parse(json.output).arrayValue?.count == 2)
  }

  @Test("delete says what it has deleted, and nothing more in JSON")
  func deletes() async {
    #expect(await run.status("delete", "kiosk", "--logout") == 0)
    #expect(run.calls == [.init(method: "instance.delete", params: ["instance": "kiosk", "logout": true])])
    #expect(run.output == "kiosk is deleted.\n")
    let json = Run()
    #expect(await json.status("rm", "kiosk", "--json") == 0)
    #expect(json.output == "{}\n")
  }

  @Test func aTerminalGetsNoCommands() async {
    _ = await run.status("token", "kiosk", isTerminal: true) { _, _ in ["token": "a\u{1B}[2Jb"] }
    #expect(run.output == "a\\u001b[2Jb\n")
    let piped = Run()
    _ = await piped.status("token", "kiosk") { _, _ in ["token": "a\u{1B}b"] }
    #expect(piped.output == "a\u{1B}b\n")
  }
}
