import ArgumentParser
import Foundation
import JSONRPC
import SDKProtocol
import Testing

@testable import sdkctl

/// The help, and the answers to command lines that can't be meant.
struct HelpTests {
  private let run = Run()

  /// All verbs, with those of groups.
  static let verbs: [(path: [String], verb: any ParsableCommand.Type)] = CommandRoot.configuration.subcommands.flatMap {
    verb -> [([String], any ParsableCommand.Type)] in
    let name = verb.configuration.commandName ?? "?"
    let inner = verb.configuration.subcommands
    return inner.isEmpty ? [([name], verb)] : inner.map { ([name, $0.configuration.commandName ?? "?"], $0) }
  }

  @Test("Every verb has examples, and each of them can be parsed")
  func examplesParse() throws {
    for (path, verb) in Self.verbs {
      let discussion = verb.configuration.discussion
      let lines = discussion.split(separator: "\n").drop { $0 != "Examples:" }.dropFirst().map { $0.dropFirst(2) }
      #expect(!lines.isEmpty, "\(path)")
      for line in lines where !line.hasPrefix("#") {
        let words = String(line).shellWords.drop { $0 != "sdkctl" }.dropFirst()
        #expect(Array(words.prefix(path.count)) == path, "\(line)")
        #expect(throws: Never.self, "\(line)") { try CommandRoot.parseAsRoot(Array(words)) }
      }
    }
  }

  @Test("The main help lists verbs in groups, and the options of all verbs once")
  func mainHelp() async {
    #expect(await run.status("--help") == 0)
    for part in [
      "Instances:\n  list ", "Users and tokens:\n  login", "Operate:\n", "Global options:\n", "--timeout <duration>",
    ] {
      #expect(run.output.contains(part), "\(part)")
    }
    for verb in CommandRoot.configuration.groupedSubcommands.flatMap(\.subcommands) {
      #expect(run.output.contains("\n  \(verb.configuration.commandName ?? "?") "), "\(verb)")
    }
    let bare = Run()
    #expect(await bare.status("help") == 0)
    #expect(bare.output == run.output)
  }

  @Test("A verb that programs call is in no list, and has a help page", arguments: CompletionVerb.Shell.allCases)
  func hiddenVerb(_ shell: CompletionVerb.Shell) async {
    _ = await run.status("completion", shell.rawValue)
    #expect(run.output.contains("lint-jwt") && !run.output.contains("stdio-bridge"))
    let page = Run()
    #expect(await page.status("stdio-bridge", "--help") == 0)
    #expect(page.output.contains("Usage: sdkctl stdio-bridge"), "\(page.output)")
  }

  @Test("The help of a verb has its usage, its arguments, its options and examples")
  func verbHelp() async {
    #expect(await run.status("help", "token") == 0)
    #expect(run.output.contains("\nUsage: sdkctl token <instance> [options]\n"))
    #expect(run.output.contains("--min-ttl <duration>"))
    #expect(run.output.contains("\nExamples:\n  sdkctl token desk\n"))
    #expect(!run.output.contains("The daemon of a tenant."))
    let other = Run()
    #expect(await other.status("token", "--socket", "/x", "--help") == 0)
    #expect(other.output == run.output)
    let inner = Run()
    #expect(await inner.status("key", "rotate", "-h") == 0)
    #expect(inner.output.contains("Usage: sdkctl key rotate [options]"))
    let group = Run()
    #expect(await group.status("key") == 0)
    #expect(group.output.contains("Commands:\n  init"))
    for output in [run.output, inner.output, group.output] {
      #expect(output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
  }

  /// The words of each verb, of each group of verbs, and of the verbs in it.
  static let paths: [[String]] = CommandRoot.configuration.subcommands.flatMap { verb -> [[String]] in
    let name = verb.configuration.commandName ?? "?"
    return [[name]] + verb.configuration.subcommands.map { [name, $0.configuration.commandName ?? "?"] }
  }

  @Test("Every verb prints the same help for --help, -h and help VERB", arguments: paths)
  func sameHelp(_ path: [String]) async {
    #expect(await run.status(path + ["--help"]) == 0)
    let name = path.joined(separator: " ")
    #expect(run.output.contains("\nUsage: sdkctl \(name) "), "\(run.output)")
    let lines = [path + ["-h"], ["help"] + path, ["--socket", "/x"] + path + ["--help"], path + ["--json", "--help"]]
    for line in lines {
      let other = Run()
      #expect(await other.status(line) == 0, "\(line)")
      #expect(other.output == run.output, "\(line)")
      #expect(other.errors.isEmpty && other.calls.isEmpty, "\(line)")
    }
  }

  @Test("The help of a word that is no verb is an error", arguments: ["--help", "-h"])
  func noHelp(_ option: String) async {
    #expect(await run.status("metrics", option) == 2)
    #expect(run.errors.contains("sdkctl has no verb metrics."), "\(run.errors)")
    #expect(run.errors.contains("hint: sdkctl top shows the metrics"), "\(run.errors)")
    #expect(run.output.isEmpty)
    let bare = Run()
    #expect(await bare.status("metrics") == 2)
    #expect(bare.errors == run.errors)
    let inner = Run()
    #expect(await inner.status("key", "inti", option) == 2)
    #expect(inner.errors.contains("did you mean init?") && inner.output.isEmpty, "\(inner.errors)")
  }

  @Test("The help of login has what each kind reads, which is the example of the contract")
  func loginInput() async throws {
    #expect(await run.status("login", "--help") == 0)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try JSONParser.parse(
      String(contentsOf: root.appendingPathComponent("Packaging/openrpc.json"), encoding: .utf8))
    #expect(KindInput.login.map(\.kind) == JWTAudience.allCases.map(\.rawValue))
    for input in KindInput.login {
      #expect(run.output.contains("\n  \(input.kind)"), "\(run.output)")
      let facts = ContractTopics(document: document).login(of: .string(input.kind))
      #expect(facts.first { $0.name == "input" }?.value == input.example, "\(input.kind)")
    }
    #expect(run.output.contains("\n    eyJhbGciOi") && run.output.contains("\n        \"identifier\": "))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test(
    "A word that is unknown is an error with the nearest one",
    arguments: [
      (["lst"], "sdkctl has no verb lst.", "did you mean list?"),
      (["--user", "shwo", "desk"], "sdkctl has no verb shwo.", "did you mean show?"),
      (["help", "tokn"], "sdkctl has no verb tokn.", "did you mean token?"),
      (["help", "nonsense"], "sdkctl has no verb nonsense.", "see sdkctl --help"),
      (["key", "inti"], "sdkctl key has no command inti.", "did you mean init?"),
      (["events", "--type", "userLogedIn"], "is invalid for '--type <type>'.", "did you mean userLoggedIn?"),
      (["list", "--state", "lockd"], "is invalid for '--state <state>'.", "did you mean locked?"),
      (["list", "-o", "jsn"], "is invalid", "did you mean json?"),
      (["list", "--stat", "x"], "Did you mean '--state'?", "see sdkctl list --help"),
      (["storage", "desk", "lst"], "Neither desk nor lst is one of list, get, put, delete.", "Did you mean list?"),
      (["token", "UPPER"], "is invalid for '<instance>'.", "an id has 1 to 64"),
      (["list", "--template", "{"], "is invalid for '--template <text>'.", "each { needs a }"),
      (["token", "desk", "--min-ttl", "soon"], "is invalid", "a duration is"),
      (["create", "desk", "zendesk.chat"], "'--kind <kind>'", "sdkctl explain lists the kinds"),
      (["create", "desk", "--kind", "zendesk.chat", "a=1", "b=2"], "unexpected", "did you mean --setting a=…?"),
    ])
  func unknownWords(_ line: [String], _ message: String, _ hint: String) async {
    #expect(await run.status(line) == 2)
    #expect(run.errors.contains(message), "\(run.errors)")
    #expect(run.errors.contains(hint), "\(run.errors)")
    #expect(!run.errors.contains("\\u000a"), "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(run.calls.isEmpty)
  }

  @Test("A missing instance comes with the nearest id that the caller can see")
  func nearestInstance() async {
    let missing = SDKError.instanceNotFound(InstanceID("front-dsk") ?? { fatalError() }()).rpcError
    let status = await run.status("show", "front-dsk") { method, _ in
      guard method == "instance.list" else { throw missing }
      return ["instances": [Samples.instance("back"), Samples.instance("front-desk")]]
    }
    #expect(status == 5)
    #expect(run.errors.contains("hint: did you mean front-desk?"), "\(run.errors)")
    #expect(run.errors.contains("sdkctl list shows those"), "\(run.errors)")
  }

  @Test("Messages name commands, unless the user named a method")
  func commandsInMessages() async {
    let error = SDKError(.provider, .providerBackoff, "Wait, or call token.refresh to try at once.").rpcError
    _ = await run.status("token", "kiosk") { _, _ in throw error }
    #expect(run.errors.contains("Wait, or run sdkctl refresh to try at once."))
    let raw = Run()
    _ = await raw.status("call", "token.get") { _, _ in throw error }
    #expect(raw.errors.contains("call token.refresh"))
  }

  @Test("Messages name the verb for each method of a kind that a verb calls")
  func verbsOfKinds() throws {
    let methods = try ExplainTests.document()["methods"]?.arrayValue ?? []
    var count = 0
    for method in methods where method["x-sdkd"]?["kind"] != nil {
      guard let name = method["name"]?.stringValue, let uses = method["x-sdkd"]?["commands"]?.arrayValue,
        let verb = uses.first?["verb"]?.stringValue
      else { continue }
      count += 1
      #expect(CommandWords.translated("Please call \(name).") == "Please run sdkctl \(verb).")
    }
    #expect(count > 10)
  }
}
