import Foundation
import Glibc
import JSONRPC
import Testing

/// Shell completion: real shells on a terminal, with the scripts that the package installs, against the daemon.
@Suite struct CompletionTests {
  /// A shell, its options, and its set-up.
  struct Shell: Sendable, CustomTestStringConvertible {
    let path: String
    let options: [String]
    /// The command that the shell runs first. `FOLDER` stands for the folder of the scripts.
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
    try line.call("storage.put", ["instance": "front-desk", "key": "cart:one", "value": 1])
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
      "sdkctl update front-desk --setting anonymous=la": "anonymous=lazy",
      "sdkctl update front-desk --setting refresh.mo": "refresh.mode=",
      "sdkctl update front-desk --setting anonymous=lazy --access-obs": "--access-observe",
      "sdkctl update front-desk --access-use user:roo": "user:root",
      "sdkctl exec front-desk -- sha256su": "sha256sum",
      "sdkctl exec front-desk -- cat /etc/hostna": "/etc/hostname",
      // bash puts a backslash before the colon.
      "sdkctl storage front-desk get car": ":one",
    ]
    for (typed, wanted) in lines {
      let keys = try desk.write("keys", "\(typed)\n\(wanted)\n\(shell.setup.replacing("FOLDER", with: scripts))\n")
      let status = try ended(
        "/usr/bin/python3", [Self.typist.path, keys.path, shell.path] + shell.options, desk,
        environment: ["PATH": "\(programs):/usr/bin:/bin", "SDKD_SOCKET": desk.socket, "HOME": desk.folder.path])
      #expect(status == 0, "\(typed)")
    }
  }

  @Test("bash completes a line whose global options stand in front of the verb")
  func optionsInFrontOfTheVerb() throws {
    let desk = try Desk.open()
    try desk.create("front-desk", on: try desk.connect())
    let programs = URL(fileURLWithPath: Program.path("sdkctl")).deletingLastPathComponent().path
    let lines = [
      "sdkctl --tenant acme list --stat": "--state",
      "sdkctl --no-headers -o json show fro": "front-desk",
      "sdkctl --socket \(desk.socket) show fro": "front-desk",
      "sdkctl --socket=\(desk.socket) show fro": "front-desk",
      "sdkctl --timeout 9s wait front-desk --for locke": "locked",
      "sdkctl --user key rotate --oute": "--outer",
      "sdkctl -o jsonl --tena": "--tenant",
      "sdkctl -o yam": "yaml",
      "sdkctl --user sho": "show",
    ]
    for (typed, wanted) in lines { try complete(typed, wanted, Self.shells[0], desk, programs: programs) }
  }

  /// Keys that a shell could expand. The commands in them create files in the working directory.
  private static let commands = [
    "x$(touch made)", "x`touch made`", "x${y:=$(touch made)}", "x;touch made;", "x'\"*{a,b}",
  ]

  @Test("A shell never sees a stored key that it could expand", arguments: shells)
  func aShellNeverSeesAKeyThatItCouldExpand(_ shell: Shell) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("front-desk", on: line)
    for key in Self.commands + ["-x", "xgood.key"] {
      try line.call("storage.put", ["instance": "front-desk", "key": .string(key), "value": 1])
    }
    let programs = URL(fileURLWithPath: Program.path("sdkctl")).deletingLastPathComponent().path
    try complete("sdkctl storage front-desk get ", "xgood.key", shell, desk, programs: programs)
    #expect(!FileManager.default.fileExists(atPath: desk.folder.appendingPathComponent("made").path))
    let words = try start(
      ["---completion", "storage", "--", "positional@2", "4", "0", "sdkctl", "storage", "front-desk", "get", ""],
      "words", desk)
    #expect(words.exit(within: 30) == 0)
    #expect(try text(of: "words", desk).split(separator: "\n") == ["xgood.key"])
  }

  /// Shows that the scripts are safe without the filter of `sdkctl`: the words come from a program without one.
  @Test("The completion scripts expand no word that sdkctl prints", arguments: shells)
  func theScriptsExpandNoWord(_ shell: Shell) throws {
    let desk = try Desk()
    let words = (Self.commands + ["xgood.key", "end"]).map { "'\($0.replacing("'", with: "'\\''"))'" }
    try desk.write("bin/sdkctl", "#!/bin/sh\nprintf '%s\\n' \(words.joined(separator: " "))\n", mode: 0o755)
    let programs = desk.folder.appendingPathComponent("bin").path
    // The second tab lists the words where the first one only completes what they have in common.
    try complete("sdkctl storage front-desk get x\t", "xgood.key", shell, desk, programs: programs)
    #expect(!FileManager.default.fileExists(atPath: desk.folder.appendingPathComponent("made").path))
  }

  /// Types a line in a shell whose working directory is the desk's folder, and waits for a text to appear.
  private func complete(_ typed: String, _ wanted: String, _ shell: Shell, _ desk: Desk, programs: String) throws {
    let built = URL(fileURLWithPath: Program.path("sdkctl")).deletingLastPathComponent().path
    let scripts = desk.folder.appendingPathComponent("share").path
    #expect(try ended("Packaging/make-completions", [built, scripts], desk) == 0)
    let setup = "cd \(desk.folder.path); \(shell.setup.replacing("FOLDER", with: scripts))"
    let keys = try desk.write("keys", "\(typed)\n\(wanted)\n\(setup)\n")
    let status = try ended(
      "/usr/bin/python3", [Self.typist.path, keys.path, shell.path] + shell.options, desk,
      environment: ["PATH": "\(programs):/usr/bin:/bin", "SDKD_SOCKET": desk.socket, "HOME": desk.folder.path])
    #expect(status == 0, "\(typed)")
  }

  @Test("Words of this machine need no daemon")
  func words() throws {
    let desk = try Desk()
    func words(_ verb: String, _ argument: String, _ line: [String]) throws -> [Substring] {
      let file = "words-\(UUID().uuidString)"
      let words = try start(
        ["---completion", verb, "--", argument, "\(line.count)", "0", "sdkctl"] + line, file, desk)
      #expect(words.exit(within: 30) == 0 && words.logText.isEmpty)
      return try text(of: file, desk).split(separator: "\n")
    }
    let rules = ["update", "desk", "--access-use"]
    #expect(try words("update", "--access-use", rules + ["group:"]).contains("group:root"))
    #expect(try words("update", "--access-use", rules + ["unit:a.service+user:"]).contains("unit:a.service+user:root"))
    // Without a sort of names, these are the people of the machine, without its services.
    let people = try words("update", "--access-use", rules + [""])
    #expect(people.allSatisfy { $0.contains(":") } && !people.contains("user:daemon"))
    let folder = desk.folder.appendingPathComponent("files").path
    try FileManager.default.createDirectory(atPath: "\(folder)/inner", withIntermediateDirectories: true)
    try desk.write("files/report", "")
    try desk.write("files/$(touch made)", "")
    #expect(
      try words("exec", "positional@1", ["exec", "desk", "--", "\(folder)/"]).map(String.init)
        == ["\(folder)/inner/", "\(folder)/report"])
  }

  @Test func withoutADaemonThereAreNoWordsAndNoComplaint() throws {
    let desk = try Desk()
    let began = ContinuousClock.now
    let words = try start(Self.question, "words", desk)
    #expect(words.exit(within: 30) == 0)
    #expect(try text(of: "words", desk).allSatisfy(\.isWhitespace))
    #expect(words.logText.isEmpty)
    // A person waits for the completion. Without a daemon `sdkctl` must not retry.
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
    // A command waits much longer, and gets its response when the daemon continues.
    #expect(command.exit(within: 0) == nil)
    desk.daemon?.signal(SIGCONT)
    #expect(command.exit(within: 30) == 0, "\(command.logText)")
    #expect(try text(of: "command", desk).contains("front-desk"))
  }

  /// The arguments with which a shell runs `sdkctl` at `sdkctl show <Tab>`.
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
