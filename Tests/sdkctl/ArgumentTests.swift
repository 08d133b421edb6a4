import ArgumentParser
import JSONRPC
import Testing

@testable import sdkctl

struct ArgumentTests {
  @Test(
    arguments: [
      ("a=5", JSON(5)), ("a=1.0", 1.0), ("a=true", true), (#"a={"b":[1]}"#, ["b": [1]]), ("a=text", "text"),
      ("a=", ""), ("a=b=c", "b=c"), (#"a="5""#, "5"), ("a=null", nil), ("a=10s", "10s"), ("a=-", "-"),
    ] as [(String, JSON)])
  func valuesAreJSONWhereTheyCanBe(_ text: String, _ expected: JSON) throws {
    let assignment = try #require(Assignment(argument: text))
    #expect(assignment.key == "a")
    if case .number = expected {
      #expect(assignment.value.doubleValue == expected.doubleValue)
    } else {
      #expect(assignment.value == expected)
    }
  }

  @Test(arguments: ["", "a", "=a"]) func noAssignment(_ text: String) {
    #expect(Assignment(argument: text) == nil)
  }

  @Test func dotsLeadInwards() throws {
    var object: JSONObject = ["a": ["b": 1], "x": 1]
    for text in ["a.c=2", "x.y=3", "a.b=4"] { object.assign(try #require(Assignment(argument: text))) }
    #expect(object == ["a": ["b": 4, "c": 2], "x": ["y": 3]])
  }

  @Test(arguments: [
    (["--user", "list"], ["list", "--user"]),
    (["-o", "json", "--socket=/x", "show", "a"], ["show", "-o", "json", "--socket=/x", "a"]),
    (["--system", "config", "check", "x"], ["config", "check", "--system", "x"]),
    (["list", "--user"], ["list", "--user"]), (["--user"], ["--user"]), (["--socket", "/x"], ["--socket", "/x"]),
    (["--user", "--help"], ["--user", "--help"]), ([], []),
  ])
  func globalOptionsGoBehindTheVerb(_ line: [String], _ expected: [String]) {
    #expect(CommandLineOrder.normalized(line) == expected)
  }

  @Test(arguments: [
    (["-o", "json"], true), (["list", "--output", "jsonl"], true), (["-o=json"], true), (["-o", "table"], false),
    (["call", "--", "-o", "json"], false), (["-o"], false),
  ])
  func whetherErrorsAreJSON(_ line: [String], _ expected: Bool) {
    #expect(CommandLineOrder.asksForJSON(line) == expected)
  }

  @Test("A verb that is parsed by itself is the one of its name")
  func frequentVerbs() throws {
    let names = CommandRoot.configuration.subcommands.compactMap { $0.configuration.commandName }
    let frequent = names.compactMap { name in CommandRoot.frequentVerb(name).map { (name, $0) } }
    #expect(frequent.count == 6)
    for (name, verb) in frequent { #expect(verb.configuration.commandName == name) }
  }

  @Test func everyVerbHasItsOptionsAndAName() {
    let verbs = CommandRoot.configuration.subcommands.flatMap { verb in
      verb.configuration.subcommands.isEmpty ? [verb] : verb.configuration.subcommands
    }
    for verb in verbs {
      #expect(verb is any Verb.Type)
      #expect(verb.configuration.commandName != nil)
    }
  }
}
