import JSONRPC
import JSONRPCTransport
import SDKClientTesting
import SDKProtocol
import Testing

@testable import sdkctl

/// The exit statuses and the text on standard error.
struct FailureTests {
  private let run = Run()

  @Test(
    arguments: [
      (SDKError(.access, .accessDenied, "No."), 4), (SDKError(.missing, .instanceNotFound, "No."), 5),
      (SDKError(.state, .reauthNeeded, "No."), 6), (SDKError(.state, .wrongKind, "No."), 1),
      (SDKError(.unreachable, .network, "No."), 75), (SDKError(.limit, .rateLimit, "No."), 75),
      (SDKError(.limit, .tooManyInstances, "No."), 1), (SDKError(.limit, .storageFull, "No."), 1),
      (SDKError(.provider, .providerBackoff, "No."), 75), (SDKError(.provider, .noProvider, "No."), 1),
    ] as [(SDKError, Int32)])
  func theDaemonsErrors(_ error: SDKError, _ expected: Int32) async {
    #expect(await run.status("show", "kiosk") { _, _ in throw error.rpcError } == expected)
    #expect(run.errors == "sdkctl: No. (\(error.reason.rawValue))\n")
    #expect(run.output.isEmpty)
  }

  @Test func hintsFollow() async {
    let error = SDKError(.vendor, .invalidAuth, "Refused.", retryAfter: 90, hints: ["kid is missing"]).rpcError
    #expect(await run.status("show", "kiosk") { _, _ in throw error } == 6)
    #expect(
      run.errors == """
        sdkctl: Refused. (invalidAuth)
          hint: kid is missing
          hint: try again in 1 min 30 s

        """)
  }

  @Test("A long error on a terminal is broken between words, and is one line as JSON")
  func longErrors() async {
    let error = SDKError(
      .state, .reauthNeeded, "The credential has ended and nobody can renew it; sign the user in again, please.",
      hints: ["the first hint is so long that it does not fit into one line either"]
    ).rpcError
    let daemon = ScriptedDaemon()
    daemon.otherwise { _, _ in throw error }
    for (options, lines) in [([], 5), (["--json"], 1)] as [([String], Int)] {
      var written: [UInt8] = []
      _ = await Program.run(
        ["show", "kiosk"] + options, output: Output { _ in },
        errors: Output(isTerminal: true, width: 40) { written += $0 }, connector: daemon.connector)
      let text = String(decoding: written, as: UTF8.self)
      #expect(text.split(separator: "\n").count == lines, "\(text)")
      if lines > 1 { #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 }) }
      if lines > 1 { #expect(text.split(whereSeparator: \.isWhitespace).contains("credential")) }
    }
  }

  @Test func asJSON() async throws {
    let error = SDKError(.missing, .instanceNotFound, "No.").rpcError
    #expect(await run.status("-o", "json", "show", "kiosk") { _, _ in throw error } == 5)
    let json = try JSONParser.parse(run.errors)
    #expect(json["reason"] == "instanceNotFound")
    #expect(json["exitStatus"] == 5)
    #expect(json["code"] == -32002)
    #expect(json["data"]?["retryable"] == false)
  }

  @Test(
    "A missing key of the state comes with the command that makes its credential again",
    arguments: [
      ("--system", "hint: sdkctl key init --recovery makes the credential again"),
      ("--tenant=acme", "hint: sdkctl --tenant acme key init --recovery"), ("--user", nil), ("--socket=/nowhere", nil),
    ] as [(String, String?)])
  func missingKey(_ place: String, _ hint: String?) async {
    let answer: @Sendable (String, JSON) throws -> JSON = { method, _ in
      switch method {
      case "daemon.info": return ["name": "sdkd"]
      case "daemon.health": return ["status": "failing", "checks": []]
      default: throw SDKError(.store, .keyMissing, "No key.").rpcError
      }
    }
    for verb in ["list", "status"] {
      let run = Run()
      #expect(await run.status(verb, place, answer: answer) != 0)
      #expect(run.errors.contains(hint ?? "key init") == (hint != nil), "\(verb): \(run.errors)")
    }
  }

  @Test func noDaemon() async {
    let status = await Program.run(
      ["status", "--socket", "/none"], output: Output { _ in },
      errors: Output { _ in },
      connector: { path, _ in throw ClientConnectionError.notRunning(path: path) })
    #expect(status == 3)
  }

  @Test func aStrangersSocket() async {
    let status = await Program.run(
      ["status"], output: Output { _ in }, errors: Output { _ in },
      connector: ScriptedDaemon(serverUid: 4711).connector)
    #expect(status == 4)
  }

  @Test(arguments: [
    ["nonsense"], ["token"], ["token", "UPPER"], ["token", "a", "--min-ttl", "soon"], ["list", "--user", "--system"],
    ["create", "a"], ["create", "a", "--kind", "k", "--setting", "novalue"], ["storage", "a", "get"],
    ["storage", "a", "list", "key"], ["create", "a", "--kind", "k", "--access-use", "everybody"],
    ["call", "m", "[1]"], ["list", "-o", "xml"], ["list", "--template", "{open"], ["list", "--tenant", "../x"],
    ["key", "init", "--tenant", "../x"], ["restore", "--tenant", "a/b"], ["audit", "--tenant", "a b"],
    ["create", "a", "--kind", "k", "--settings-file", "-", "--provider-file", "-"],
    ["storage", "a", "get", "k", "--file", "f"], ["update", "a", "--remove-provider", "--provider-unit", "u"],
    ["update", "a", "--remove-provider", "--provider-file", "-"],
    ["update", "a", "--remove-provider", "--provider-command", "mint"],
  ])
  func usage(_ line: [String]) async {
    let run = run
    let status = await Program.run(
      line, output: Output { _ in Issue.record("writes to standard output") }, errors: Output { _ in },
      connector: ScriptedDaemon(serverUid: 4711).connector)
    #expect(status == 2)
    #expect(run.calls.isEmpty)
  }

  @Test func usageIsOneLineAndAHint() async throws {
    #expect(await run.status("token", "UPPER") == 2)
    #expect(run.errors.hasPrefix("sdkctl: "))
    #expect(run.errors.contains(" (usage)\n"))
    #expect(run.errors.hasSuffix("  hint: see sdkctl token --help\n"))
    let json = Run()
    #expect(await json.status("token", "UPPER", "-o=json") == 2)
    #expect(try JSONParser.parse(json.errors)["reason"] == "usage")
  }
}
