import Foundation
import Glibc
import Testing

/// What the shells complete: real shells on a terminal, with the scripts that the package installs, against the daemon.
@Suite struct CompletionTests {
  /// A shell, how it is started and made ready.
  struct Shell: Sendable, CustomTestStringConvertible {
    let path: String
    let options: [String]
    /// What it is told first; `FOLDER` is where the scripts are.
    let setup: String
    var testDescription: String { path }
  }

  static let shells = [
    Shell(
      path: "/usr/bin/bash", options: ["--norc", "--noprofile", "-i"],
      setup: "source FOLDER/sdkctl"),
    Shell(
      path: "/usr/bin/zsh", options: ["-f", "-i"],
      setup: "fpath=(FOLDER $fpath); autoload -Uz compinit; compinit -u -D"),
    Shell(
      path: "/usr/bin/fish", options: ["--private", "--no-config", "-i"],
      setup: "source FOLDER/sdkctl.fish"),
  ]

  @Test(arguments: shells) func aShellCompletesWhatTheDaemonKnows(_ shell: Shell) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("front-desk", on: line)
    let programs = URL(fileURLWithPath: Program.path("sdkctl")).deletingLastPathComponent().path
    let scripts = desk.folder.appendingPathComponent("share").path
    #expect(try ended("Packaging/make-completions", [programs, scripts], desk) == 0)
    let lines = [
      "sdkctl sho": "sdkctl show",
      "sdkctl show fro": "front-desk",
      "sdkctl token --socket \(desk.socket) fro": "front-desk",
      "sdkctl create new --kind zendesk.mess": "zendesk.messaging",
      "sdkctl update front-desk --setting conversation_m": "conversation_mode=",
      "sdkctl call messaging.loginU": "messaging.loginUser",
      "sdkctl events --type userMer": "userMerged",
    ]
    for (typed, wanted) in lines {
      let keys = try desk.write("keys", "\(typed)\n\(wanted)\n\(shell.setup.replacing("FOLDER", with: scripts))\n")
      let status = try ended(
        "/usr/bin/python3", [Self.typist.path, keys.path, shell.path] + shell.options, desk,
        environment: ["PATH": "\(programs):/usr/bin:/bin", "SDKD_SOCKET": desk.socket, "HOME": desk.folder.path])
      #expect(status == 0, "\(typed)")
    }
  }

  @Test func withoutADaemonThereAreNoWordsAndNoComplaint() throws {
    let desk = try Desk()
    let began = ContinuousClock.now
    let words = try start(Self.question, "words", desk)
    #expect(words.exit(within: 30) == 0)
    #expect(try text(of: "words", desk).allSatisfy(\.isWhitespace))
    #expect(words.logText.isEmpty)
    // A person waits for it. Without a daemon it must not try again and again.
    #expect(ContinuousClock.now - began < .seconds(5))
  }

  @Test func aPersonWhoTypesDoesNotWaitForADaemonThatIsStuck() throws {
    let desk = try Desk.open()
    try desk.create("front-desk", on: try desk.connect())
    desk.daemon?.signal(SIGSTOP)
    let command = try start(["show", "front-desk"], "command", desk)
    let words = try start(Self.question, "words", desk)
    #expect(words.exit(within: 30) == 0)
    #expect(try text(of: "words", desk).allSatisfy(\.isWhitespace))
    #expect(words.logText.isEmpty)
    // A command waits much longer, and is answered after all.
    #expect(command.exit(within: 0) == nil)
    desk.daemon?.signal(SIGCONT)
    #expect(command.exit(within: 30) == 0, "\(command.logText)")
    #expect(try text(of: "command", desk).contains("front-desk"))
  }

  /// What a shell asks at `sdkctl show <Tab>`.
  private static let question = ["---completion", "show", "--", "positional@0", "2", "0", "sdkctl", "show", ""]

  private func start(_ arguments: [String], _ name: String, _ desk: Desk) throws -> Program {
    try Program(
      "sdkctl", arguments, environment: ["SDKD_SOCKET": desk.socket],
      output: desk.folder.appendingPathComponent(name), log: desk.folder.appendingPathComponent("\(name).err"))
  }

  private func text(of name: String, _ desk: Desk) throws -> String {
    try String(contentsOf: desk.folder.appendingPathComponent(name), encoding: .utf8)
  }

  private static var root: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }
  private static var typist: URL { root.appendingPathComponent("Tests/Integration/Support/typist.py") }

  private func ended(
    _ program: String, _ arguments: [String], _ desk: Desk, environment: [String: String] = [:]
  ) throws -> Int32? {
    let path = program.hasPrefix("/") ? program : Self.root.appendingPathComponent(program).path
    let program = try Program(
      path, arguments, environment: environment, output: desk.folder.appendingPathComponent("shell.out"),
      log: desk.folder.appendingPathComponent("shell.err"))
    let status = program.exit(within: 60)
    if status != 0 { Issue.record("\(program.logText.suffix(2000))") }
    return status
  }
}
