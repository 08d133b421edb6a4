import Foundation
import Glibc
import JSONRPC
import Testing

/// The example in shell under `Packaging/examples`, as it is shipped, and the guide's snippets in shell. `Tests/Clients` has
/// those in other languages.
@Suite struct ExampleTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Packaging/examples")

  /// Starts the example. Returns the program and a function that reads its output.
  private func start(_ desk: Desk) throws -> (Program, () -> [String]) {
    let output = desk.folder.appendingPathComponent("example.out")
    let program = try Program(
      // `timeout` leads a process group, so that the children of the example can be ended with it.
      "/usr/bin/env",
      ["timeout", "300", "sh", Self.folder.appendingPathComponent("shell/front-desk.sh").path, "desk"],
      environment: ["SDKD_SOCKET": desk.socket, "SDKCTL": Program.path("sdkctl")],
      output: output, log: desk.folder.appendingPathComponent("example.err"))
    return (
      program,
      {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
      }
    )
  }

  /// Kills an example and its children, which are in a process group that `timeout` leads.
  private func end(_ program: Program) {
    guard program.exit(within: 0) == nil else { return }
    kill(-program.pid, SIGKILL)
    _ = program.exit(within: 10)
  }

  private func eventually(_ what: String, _ program: Program, _ condition: () throws -> Bool) throws {
    try IntegrationTests.eventually(what, within: 60) {
      if let status = program.exit(within: 0) {
        throw Program.Failure(description: "the example ended with \(status): \(program.logText)")
      }
      return try condition()
    }
  }

  @Test func `It shows the user and sees each event once, over restarts`() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let jwt = try desk.logIn(on: line)
    let (program, lines) = try start(desk)
    defer { end(program) }
    try eventually("the user is shown", program) { lines().contains { $0.hasPrefix("user alice") } }
    // The example follows events from an unknown moment on; the first update that it shows proves that it does.
    var floor = 0
    func update(_ line: Line) throws {
      floor += 1
      try line.call("instance.update", ["instance": "desk", "labels": ["floor": .string("\(floor)")]])
    }
    func updates() -> Int { lines().count { $0 == "event instanceUpdated desk" } }
    try eventually("it follows", program) {
      try update(line)
      return updates() > 0
    }
    // The number of updates shown so far is unknown. All come before the event of another login.
    func logins() -> Int { lines().count { $0 == "event userLoggedIn desk" } }
    let formerLogins = logins()
    try desk.logIn(on: line)
    try eventually("the login is seen", program) { logins() > formerLogins }
    let before = updates()
    try desk.crash()
    let second = try desk.connect()
    for _ in 0..<3 { try update(second) }
    try eventually("the events after kill -9 are seen", program) { updates() >= before + 3 }
    #expect(desk.stop() == 0)
    try desk.start()
    let third = try desk.connect()
    for _ in 0..<3 { try update(third) }
    try third.call("messaging.logoutUser", ["instance": "desk"])
    try eventually("the logout is seen", program) {
      let shown = lines().last { $0.hasPrefix("user ") || $0.hasPrefix("please sign in") }
      return lines().contains("event userLoggedOut desk") && shown?.hasPrefix("user alice") == false
    }
    #expect(updates() == before + 6)
    #expect(lines().count { $0 == "event userLoggedOut desk" } == 1)
    let everything = lines().joined() + program.logText
    #expect(!everything.contains(jwt))
  }

  @Test func `An instance that is not there is said`() throws {
    let desk = try Desk.open()
    let (program, _) = try start(desk)
    defer { end(program) }
    let status = program.exit(within: 60)
    #expect(status != nil && status != 0)
    #expect(program.logText.contains("instanceNotFound"))
  }

  @Test func `Looking who is signed in creates no user at the vendor`() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let (program, lines) = try start(desk)
    defer { end(program) }
    try eventually("it has looked", program) { lines().contains("please sign in") }
    #expect(try line.call("instance.get", ["instance": "desk"])["state"] == "noUser")
  }

  /// The code blocks in a language of the guide for apps.
  private func snippets(_ language: String) throws -> [String] {
    let guide = Self.folder.deletingLastPathComponent().appendingPathComponent("documentation/app-guide.md")
    return try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```\(language)\n")
      .dropFirst().compactMap { $0.components(separatedBy: "```").first }
  }

  /// Runs a program in an interpreter to its end and expects success. Returns its output.
  private func run(_ interpreter: String, _ text: String, as name: String, _ desk: Desk, jwt: String) throws -> String {
    let output = desk.folder.appendingPathComponent("\(name).out")
    let program = try Program(
      "/usr/bin/env",
      [interpreter, try desk.write(name, text).path, try desk.write("\(name).jwt", jwt).path],
      environment: [
        "SDKD_SOCKET": desk.socket, "SANDBOX": KindSample.sandbox,
        "PATH": "\(Program.directory.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")",
      ], output: output, log: desk.folder.appendingPathComponent("\(name).err"))
    #expect(program.exit(within: 120) == 0, "\(program.logText)")
    return try String(contentsOf: output, encoding: .utf8)
  }

  private func openFrontDesk() throws -> (Desk, jwt: String) {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("front-desk", on: line)
    let jwt = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "front-desk", "jwt": .string(jwt)])
    return (desk, jwt)
  }

  /// The snippets of a language are one program. `Guides/guide.…` follows them and calls what they define.
  @Test(arguments: [["python3", "python", "guide.py"], ["node", "js", "guide.mjs"]])
  func `The snippets of the guide for apps are one program that works`(language: [String]) throws {
    let driver = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Guides/\(language[2])")
    let blocks = try snippets(language[1])
    #expect(blocks.count >= 8)
    let text = try (blocks + [String(contentsOf: driver, encoding: .utf8)]).joined(separator: "\n")
    let (desk, jwt) = try openFrontDesk()
    let output = try run(language[0], text, as: language[2], desk, jwt: jwt)
    #expect(output.contains("Authorization") && output.contains("all snippets were run"))
    #expect(!output.contains(jwt))
  }

  @Test(arguments: [["python3", "python", "program.py"], ["node", "js", "program.mjs"]])
  func `The program of the guide for apps ends by itself`(language: [String]) throws {
    let (desk, jwt) = try openFrontDesk()
    let output = try run(
      language[0], try snippets(language[1]).joined(separator: "\n"), as: language[2], desk, jwt: jwt)
    #expect(output.contains("alice"))
  }

  @Test func `The shell snippets of the guide for apps run`() throws {
    let blocks = try snippets("sh")
    #expect(!blocks.isEmpty)
    let (desk, jwt) = try openFrontDesk()
    for (number, block) in blocks.enumerated() {
      let output = try run("sh", "set -eu\n\(block)", as: "snippet\(number).sh", desk, jwt: jwt)
      #expect(output.contains("Authorization"))
      #expect(!output.contains(jwt))
    }
  }
}
