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
    let output = desk.folder.appendingPathComponent("out")
    let log = desk.folder.appendingPathComponent("err")
    let start = ContinuousClock.now
    let program = try Program(
      "sdkctl", ["---completion", "show", "--", "positional@0", "2", "0", "sdkctl", "show", ""],
      environment: ["SDKD_SOCKET": desk.socket], output: output, log: log)
    #expect(program.exit(within: 30) == 0)
    #expect(try String(contentsOf: output, encoding: .utf8).allSatisfy(\.isWhitespace))
    #expect(program.logText.isEmpty)
    // A person waits for it. Without a daemon it must not try again and again.
    #expect(ContinuousClock.now - start < .seconds(5))
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
