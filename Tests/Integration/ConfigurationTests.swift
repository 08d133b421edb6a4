import Foundation
import Glibc
import JSONRPC
import Testing

/// The configuration files, as the real daemon reads them.
@Suite struct ConfigurationTests {
  @Test func instancesComeFromFilesAndBelongToThem() throws {
    let desk = try Desk()
    func file(_ label: String) throws {
      try desk.write(
        "instances.d/front-desk.toml",
        """
        id = "front-desk"
        kind = "zendesk.messaging"
        labels = { floor = "\(label)" }
        [settings]
        base_url = "\(try desk.vendor.messaging)"
        app_id = "\(Desk.app)"
        [access]
        use = ["uid:65534"]
        """)
    }
    try file("1")
    try desk.start()
    let line = try desk.connect()
    let made = try line.call("instance.get", ["instance": "front-desk"])
    #expect(made["source"] == "file")
    #expect(made["labels"] == ["floor": "1"])
    try line.call("messaging.loginUser", ["instance": "front-desk", "jwt": .string(try Vendor.mint("alice"))])
    for (method, params) in [
      ("instance.update", ["instance": "front-desk", "labels": ["a": "b"]] as JSON),
      ("instance.delete", ["instance": "front-desk"]),
    ] { #expect(try line.failure(method, params).reason == "ownedByFile") }
    // A changed label keeps the user signed in; a missing file deletes the instance.
    try file("2")
    desk.stop()
    try desk.start()
    let after = try desk.connect().call("instance.get", ["instance": "front-desk"])
    #expect(after["labels"] == ["floor": "2"])
    #expect(after["state"] == "authenticated")
    try FileManager.default.removeItem(at: desk.folder.appendingPathComponent("instances.d/front-desk.toml"))
    desk.stop()
    try desk.start()
    #expect(try desk.connect().failure("instance.get", ["instance": "front-desk"]).reason == "instanceNotFound")
  }

  @Test("A file that --config names must exist for --check, and the file of a daemon need not")
  func missingFile() throws {
    let desk = try Desk()
    let missing = desk.folder.appendingPathComponent("sdkd.tmol").path
    func check(_ arguments: String...) throws -> (status: Int32?, log: String) {
      let program = try Program(
        "sdkd", ["--check", "--config", missing] + arguments, output: desk.folder.appendingPathComponent("out"),
        log: desk.folder.appendingPathComponent("err"))
      return (program.exit(within: 30), program.logText)
    }
    let named = try check()
    #expect(named.status == 78 && named.log.contains("\(missing): The file does not exist."), "\(named)")
    #expect(try check("--config-may-be-absent").status == 0)
    try desk.start()
    #expect(try desk.sdkctl("config", "check", missing).status == 78)
  }

  @Test(
    "A path that can't be a socket ends the daemon with 64, and nothing is changed there",
    arguments: ["long", "file", "directory"])
  func socketPath(kind: String) throws {
    let desk = try Desk()
    let path = desk.folder.appendingPathComponent(kind == "long" ? String(repeating: "x", count: 108) : "s").path
    if kind == "file" { try desk.write("s", "content") }
    if kind == "directory" { #expect(mkdir(path, 0o755) == 0) }
    let program = try Program(
      "sdkd", ["--config", desk.configuration.path, "--state", desk.state.path, "--socket", path],
      output: desk.folder.appendingPathComponent("out"), log: desk.folder.appendingPathComponent("err"))
    #expect(program.exit(within: 30) == 64, "\(program.logText)")
    if kind == "file" { #expect(try String(contentsOfFile: path, encoding: .utf8) == "content") }
  }

  @Test func everyMistakeIsSaidWithFileLineAndNearestKey() throws {
    let desk = try Desk()
    let limits = "[limits]\nmax_in_fligth = 3\nconnections = \"many\"\n\"\\u001B[31m\\nforged\" = 1\n"
    try desk.write("sdkd.toml", limits + "[acces]\nadmins = []\n")
    try desk.write("instances.d/x.toml", "id = \"X!\"\nkind = \"zendesk.mesaging\"\n[settings]\nbase_ulr = \"x\"\n")
    let err = desk.folder.appendingPathComponent("err")
    let check = try Program(
      "sdkd", ["--check", "--config", desk.configuration.path], output: desk.folder.appendingPathComponent("out"),
      log: err)
    #expect(check.exit(within: 30) == 78)
    let text = check.logText
    for expected in [
      "sdkd.toml:2:", "max_in_flight", "sdkd.toml:3:", "sdkd.toml:5:", "access", "x.toml:1:", "x.toml:2:",
      "zendesk.messaging",
    ] {
      #expect(text.contains(expected), "\(expected) is not in:\n\(text)")
    }
    #expect(!text.contains("\u{1B}") && text.contains("\u{FFFD}[31m\u{FFFD}forged"), "\(text)")
    // The daemon starts with the mistakes, and reports them to every caller.
    try desk.start()
    let line = try desk.connect()
    #expect(try line.call("daemon.health")["status"] == "failing")
    let failure = try line.failure("instance.list")
    #expect(failure.reason == "storeUnavailable")
    #expect(failure.message.contains("an administrator finds more with sdkctl config check"), "\(failure.message)")
    #expect(try line.call("daemon.info")["name"] == "sdkd")
    let status = try desk.sdkctl("status")
    #expect(status.status == 1 && status.output.contains("sdkd.toml:2: limits.max_in_fligth"), "\(status.output)")
  }
}
