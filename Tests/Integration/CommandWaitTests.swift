import Foundation
import Glibc
import JSONRPC
import Testing

/// The verbs of `sdkctl` that wait, watch, list files or ask, with the real daemon.
@Suite struct CommandWaitTests {
  private func start(_ desk: Desk, _ arguments: [String], _ name: String) throws -> Program {
    try Program(
      "sdkctl", arguments, environment: ["SDKD_SOCKET": desk.socket],
      output: desk.folder.appendingPathComponent(name), log: desk.folder.appendingPathComponent("\(name).err"))
  }

  private func text(_ desk: Desk, _ name: String) -> String {
    (try? String(contentsOf: desk.folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
  }

  @Test("wait ends when the instance is in the state, also after a restart of the daemon")
  func waiting() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    #expect(try desk.sdkctl(["wait", "desk", "--for", "noUser"]).output == "desk is noUser.\n")
    let waiter = try start(desk, ["wait", "desk", "--timeout", "120s", "-o", "jsonl"], "waiter")
    try eventually("it has subscribed") {
      try line.call("daemon.metrics")["text"]?.stringValue?.contains("sdkd_subscriptions 1\n") ?? false
    }
    try desk.crash()
    let again = try desk.connect()
    #expect(waiter.exit(within: 0) == nil)
    try desk.logIn(on: again)
    #expect(waiter.exit(within: 60) == 0, "\(waiter.logText)")
    #expect(try JSONParser.parse(text(desk, "waiter"))["state"] == "authenticated")
  }

  @Test("wait exits with 75 when the time is over, and with 5 when the instance is deleted")
  func waitingInVain() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    let late = try desk.sdkctl(["wait", "desk", "--timeout", "300ms"])
    #expect(late.status == 75 && late.error.contains("desk is noUser"), "\(late.error)")
    #expect(try desk.sdkctl(["wait", "nope", "--timeout", "5s"]).status == 5)
    #expect(try desk.sdkctl(["wait", "desk", "--for", "authentcated"]).error.contains("did you mean authenticated?"))
    let waiter = try start(desk, ["wait", "desk", "--timeout", "120s"], "waiter")
    try eventually("it has subscribed") {
      try line.call("daemon.metrics")["text"]?.stringValue?.contains("sdkd_subscriptions 1\n") ?? false
    }
    try line.call("instance.delete", ["instance": "desk"])
    #expect(waiter.exit(within: 60) == 5, "\(waiter.logText)")
  }

  @Test("wait waits for a daemon that starts later, with and without an instance")
  func waitingForTheDaemon() throws {
    let desk = try Desk()
    let late = try desk.sdkctl(["wait", "--timeout", "200ms"])
    #expect(late.status == 75 && late.error.contains("The daemon has not answered in time. (timeout)"), "\(late.error)")
    #expect(try desk.sdkctl(["wait", "--for", "locked"]).status == 2)
    let daemon = try start(desk, ["wait", "--timeout", "120s"], "daemon")
    let other = try start(desk, ["wait", "nope"], "other")
    #expect(daemon.exit(within: 0) == nil)
    try desk.start()
    #expect(daemon.exit(within: 60) == 0, "\(daemon.logText)")
    #expect(other.exit(within: 60) == 5, "\(other.logText)")
    #expect(text(desk, "daemon").isEmpty)
  }

  @Test("list --watch adds a line for each change, and for a deletion")
  func watching() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("one", on: line)
    let watcher = try start(desk, ["list", "--watch"], "watched")
    try eventually("the table is there") { text(desk, "watched").contains("one ") }
    try eventually("it has subscribed") {
      try line.call("daemon.metrics")["text"]?.stringValue?.contains("sdkd_subscriptions 1\n") ?? false
    }
    try desk.create("two", on: line)
    try eventually("the new instance is there") { text(desk, "watched").contains("\ntwo ") }
    try line.call("instance.delete", ["instance": "two"])
    try eventually("the deletion is there") { text(desk, "watched").contains("deleted") }
    #expect(text(desk, "watched").components(separatedBy: "INSTANCE").count == 2, "one header")
    watcher.signal(SIGINT)
    #expect(watcher.exit(within: 10) == 0)
  }

  @Test("list --watch shows a logout once, though it has several events")
  func watchingALogout() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    try desk.logIn(on: line)
    let watcher = try start(desk, ["list", "--watch"], "watched")
    try eventually("it has subscribed") {
      try line.call("daemon.metrics")["text"]?.stringValue?.contains("sdkd_subscriptions 1\n") ?? false
    }
    #expect(try desk.sdkctl(["logout", "desk"]).status == 0)
    try desk.create("last", on: line)
    try eventually("the instance created last is there") { text(desk, "watched").contains("\nlast ") }
    #expect(text(desk, "watched").components(separatedBy: "loggedOut").count == 2, "\(text(desk, "watched"))")
    watcher.signal(SIGINT)
    #expect(watcher.exit(within: 10) == 0)
  }

  @Test("delete asks on a terminal, and --yes answers")
  func deleting() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let shown = desk.folder.appendingPathComponent("shown")
    for (answer, options, status) in [("n\n", "", 1), ("", "--yes", 0)] as [(String, String, Int32)] {
      let input = Glibc.open(try desk.write("answer", answer).path, O_RDONLY | O_CLOEXEC)
      defer { close(input) }
      let program = try Program(
        "/usr/bin/script", ["-qec", "'\(Program.path("sdkctl"))' delete desk \(options)", "/dev/null"],
        environment: ["SDKD_SOCKET": desk.socket], output: shown, log: desk.folder.appendingPathComponent("log"),
        input: input)
      #expect(program.exit(within: 60) == status)
      #expect(try desk.sdkctl(["show", "desk"]).status == (status == 1 ? 0 : 5))
    }
    let text = try String(contentsOf: shown, encoding: .utf8)
    #expect(
      text.contains("Delete desk and all that it stores? [y/N]") && text.contains("Nothing was changed."), "\(text)")
  }

  @Test("A terminal shows times by the machine's time zone")
  func localTimes() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let json = try JSONParser.parse(try desk.sdkctl(["events", "-o", "jsonl", "--type", "instanceCreated"]).output)
    let time = try #require(json["time"]?.stringValue)
    let shown = desk.folder.appendingPathComponent("shown")
    let program = try Program(
      "/usr/bin/script", ["-qec", "'\(Program.path("sdkctl"))' events", "/dev/null"],
      environment: ["SDKD_SOCKET": desk.socket, "TZ": "UTC", "COLUMNS": "200"], output: shown,
      log: desk.folder.appendingPathComponent("log"))
    #expect(program.exit(within: 60) == 0)
    let text = try String(contentsOf: shown, encoding: .utf8)
    #expect(text.contains("\(time.prefix(19).replacing("T", with: " "))  desk  instanceCreated"), "\(text)")
  }

  @Test("Settings, hints and messages fit the daemon at hand")
  func words() throws {
    let desk = try Desk.open()
    let made = try desk.sdkctl(["create", "chat", "--kind", KindSample.chat.kind, "--setting", "account_key=12345678"])
    #expect(made.status == 0 && !made.output.contains("bridge.state"), "\(made.error)")
    let bare = try desk.sdkctl(["create", "help", "--kind", KindSample.support.kind])
    let missing = "settings.base_url, a string (URL); settings.app_id, a string; settings.client_id, a string"
    #expect(bare.status == 2 && bare.error.contains("These members are missing: \(missing)"), "\(bare.error)")
    let near = try desk.sdkctl(["show", "caht"])
    #expect(near.status == 5 && near.error.contains("did you mean chat?") && near.error.contains("sdkctl list"))
    #expect(try desk.sdkctl(["list", "--kind", "zendesk.caht"]).error.contains("did you mean zendesk.chat?"))
    let logs = try desk.sdkctl(["logs", "chat", "--file", desk.folder.appendingPathComponent("log1").path])
    #expect(logs.status == 0, "\(logs.error)")
    #expect(try desk.sdkctl(["audit"]).error.contains("has no unit"))
    desk.stop()
    let stopped = try desk.sdkctl(["list"])
    #expect(stopped.status == 3 && stopped.error.contains("sdkd --socket \(desk.socket)"), "\(stopped.error)")
  }
}
