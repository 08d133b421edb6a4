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
    (["--json", "ls"], ["list", "--json"]), (["-o", "json", "get", "desk"], ["show", "-o", "json", "desk"]),
  ])
  func globalOptionsGoBehindTheVerb(_ line: [String], _ expected: [String]) {
    #expect(CommandLineOrder.normalized(line) == expected)
  }

  @Test(arguments: [
    (["-o", "json"], true), (["list", "--output", "jsonl"], true), (["-o=json"], true), (["-o", "table"], false),
    (["call", "--", "-o", "json"], false), (["-o"], false), (["list", "--json"], true),
    (["exec", "a", "--", "--json"], false),
    (["create", "a", "--provider-command", "mint", "--json"], false), (["list", "-o", "name"], false),
  ])
  func whetherErrorsAreJSON(_ line: [String], _ expected: Bool) {
    #expect(CommandLineOrder.asksForJSON(line) == expected)
  }

  @Test(
    "Verbs of other programs stand for those of this one",
    arguments: [
      (["ls", "--kind", "a"], ["list", "--kind", "a"]), (["rm", "desk"], ["delete", "desk"]),
      (["describe", "desk"], ["show", "desk"]), (["info"], ["status"]), (["get"], ["list"]),
      (["get", "--kind", "a", "-o", "json"], ["list", "--kind", "a", "-o", "json"]),
      (["get", "desk"], ["show", "desk"]), (["get", "-o", "json", "desk"], ["show", "-o", "json", "desk"]),
      (["version"], ["--version"]), (["-V"], ["--version"]), (["help", "ls"], ["help", "list"]),
      (["help", "get"], ["help", "show"]), (["help"], ["help"]), (["show", "ls"], ["show", "ls"]),
      (["exec", "desk", "--", "ls"], ["exec", "desk", "--", "ls"]), (["key", "ls"], ["key", "ls"]),
    ])
  func synonyms(_ line: [String], _ expected: [String]) {
    #expect(CommandLineOrder.normalized(line) == expected)
  }

  @Test("A verb that is parsed by itself is the one of its name")
  func frequentVerbs() throws {
    let names = CommandRoot.configuration.subcommands.compactMap { $0.configuration.commandName }
    let frequent = names.compactMap { name in CommandRoot.frequentVerb(name).map { (name, $0) } }
    #expect(frequent.count == 6)
    for (name, verb) in frequent { #expect(verb.configuration.commandName == name) }
  }

  // MARK: Plain lines

  private static let plainVerbs = ["token", "list", "show", "status", "events"]

  /// Returns what the parser makes of a line; `nil` for a mistake.
  private func parsed(_ line: [String]) -> String? { (try? CommandRoot.parseAsRoot(line)).map { "\($0)" } }

  /// Returns what a verb makes of a plain line; `nil` if the parser must read it.
  private func plain(_ line: [String]) -> String? {
    line.first.flatMap { CommandRoot.plainVerb($0)?.plain(line.dropFirst()) }.map { "\($0)" }
  }

  @Test(
    "A plain line means the same with and without the parser",
    arguments: [
      "token desk", "token --http desk", "token desk --service chat --min-ttl 5m --strict --http --timeout 10s -o json",
      "token desk --socket /x --trace", "token desk --user", "token -o yaml --tenant acme desk", "token status",
      "token desk -H ann@machine --system", "list", "list --kind zendesk.chat --state locked --label a=b --label c=",
      "list -w", "list --watch --no-headers", "show desk", "show desk --output jsonl", "status",
      "status --user -o json",
      "events", "events desk", "events -f desk --since c --type tokenRefreshed --type userLoggedIn",
      "events --follow", "list --template {instance}", "list --json", "show desk --json -o json", "list -o name",
      "events --cursor-file /x --since 1h", "token desk --file /x", "token -f --file /x desk --hook true",
    ])
  func plainLines(_ text: String) throws {
    let line = text.split(separator: " ").map(String.init)
    let made = try #require(plain(line))
    #expect(made == parsed(line))
  }

  @Test(
    "The parser reads every other line",
    arguments: [
      "token", "token desk extra", "token desk --htp", "token desk --min-ttl", "token desk --min-ttl soon",
      "token desk --strict", "token desk --min-ttl=5m", "token desk --min-ttl 5m --min-ttl 6m", "token -- desk",
      "token desk --help", "token desk -h", "token desk --version", "token Desk", "token desk --http --http",
      "token desk --service -x", "token desk --socket --user", "list --json -o yaml", "token desk --follow",
      "token desk --file /x --hook true", "token desk --user --system",
      "token desk -o",
      "token desk -ojson", "token desk -o=json", "token desk -o text", "token desk --out json",
      "token desk --tenant ../x",
      "token desk -H -x", "list desk", "list --watch -w", "list --label a", "list -wo json", "show", "status desk",
      "events desk other", "events --type nothing", "list --template {", "list --template --user desk", "token desk --",
      "tokens desk", "exec desk true", "storage list desk", "help token",
    ])
  func otherLines(_ text: String) {
    #expect(plain(text.split(separator: " ").map(String.init)) == nil)
    #expect(plain(["token", ""]) == nil)
    #expect(plain(["token", "desk", "--socket", ""]) == nil)
    #expect(plain([]) == nil)
  }

  @Test("Every option of a frequent verb is read without the parser", arguments: plainVerbs)
  func plainOptions(_ name: String) throws {
    let values = [
      "host": "machine", "socket": "/x", "tenant": "acme", "output": "json", "template": "{a}", "timeout": "10s",
      "min-ttl": "5m", "service": "chat", "kind": "zendesk.chat", "state": "locked", "label": "a=b", "since": "c",
      "cursor-file": "/x", "file": "/x", "hook": "true", "type": "userLoggedIn",
    ]
    let verbs = try JSONParser.parse(Array(CommandRoot._dumpHelp().utf8))["command"]?["subcommands"]?.arrayValue ?? []
    let verb = try #require(verbs.first { $0["commandName"]?.stringValue == name })
    let start = [name] + (["token", "show"].contains(name) ? ["desk"] : [])
    var ends = ["strict": ["--min-ttl", "5m"], "hook": ["--file", "/x", "--follow"]]
    if name == "token" { ends["follow"] = ["--file", "/x"] }
    var count = 0
    for option in verb["arguments"]?.arrayValue ?? [] where option["kind"] != "positional" {
      let names = option["names"]?.arrayValue ?? []
      let long = try #require(names.first { $0["kind"] == "long" }?["name"]?.stringValue)
      if ["help", "version"].contains(long) { continue }
      for word in names.compactMap({ $0["name"]?.stringValue }) {
        var line = start + [word.utf8.count == 1 ? "-\(word)" : "--\(word)"]
        if option["kind"] == "option" { line.append(try #require(values[long], "--\(long) needs a value here")) }
        line += ends[long] ?? []
        let made = try #require(plain(line), "\(line)")
        #expect(made == parsed(line))
        count += 1
      }
    }
    #expect(count > 10)
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
