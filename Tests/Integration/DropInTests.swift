import Foundation
import Glibc
import JSONRPC
import Testing

/// The files of `sdkd.toml.d`, as the real daemon reads them.
@Suite struct DropInTests {
  private func limits(_ line: Line) throws -> JSON? { try line.call("daemon.info")["limits"] }

  @Test("Drop-ins apply at the start and at a reload, and a broken one changes nothing")
  func life() throws {
    let desk = try Desk()
    try desk.write("sdkd.toml", "[limits]\nsubscriptions = 4\nconnections = 50\n")
    try desk.write("sdkd.toml.d/10-more.toml", "[limits]\nsubscriptions = 5\n")
    try desk.write("sdkd.toml.d/20-most.toml", "[limits]\nsubscriptions = 6\n")
    let checked = try desk.sdkctl("config", "check", desk.configuration.path)
    #expect(checked.output == "\(desk.configuration.path) and 2 drop-ins: 0 instances, no mistakes\n")
    let shown = try JSONParser.parse(
      try desk.sdkctl("config", "show", desk.configuration.path, "-o", "json").output)
    let dropIn = "\(desk.configuration.path).d/20-most.toml"
    #expect(
      shown == [
        ["key": "limits.connections", "value": 50, "file": .string(desk.configuration.path), "line": 3],
        ["key": "limits.subscriptions", "value": 6, "file": .string(dropIn), "line": 2],
      ])
    try desk.start()
    let line = try desk.connect()
    #expect(try limits(line)?["subscriptions"] == 6 && limits(line)?["connections"] == 50)

    let broken = try desk.write("sdkd.toml.d/30-broken.toml", "[limits]\nsubscriptions = 7\nconections = 9\n").path
    let failure = try line.failure("daemon.reload")
    #expect(failure.reason == "invalidConfiguration")
    let mistake = failure.data["mistakes"]?.arrayValue?.first
    #expect(mistake?["file"] == .string(broken) && mistake?["line"] == 3 && mistake?["nearest"] == "connections")
    #expect(try limits(line)?["subscriptions"] == 6)
    let said = try desk.sdkctl("config", "check", desk.configuration.path)
    #expect(said.status == 78 && said.output.hasPrefix("\(broken):3: limits.conections: "), "\(said)")
    let unshown = try desk.sdkctl("config", "show", desk.configuration.path)
    #expect(unshown.status == 78 && unshown.error.contains("\(broken):3: limits.conections: "), "\(unshown)")
    for verb in ["check", "show"] {
      let absent = try desk.sdkctl("config", verb, "/absent.toml")
      #expect(absent.status == 78 && absent.error.contains("There is no file /absent.toml."), "\(absent)")
    }
    let doctor = try desk.sdkctl("doctor", "--timeout", "60s", "-o", "json")
    #expect(doctor.output.contains("\(broken):3: limits.conections: "), "\(doctor.output)")

    try desk.write("sdkd.toml.d/30-broken.toml", "[limits]\nsubscriptions = 7\n")
    _ = try line.call("daemon.reload")
    #expect(try limits(line)?["subscriptions"] == 7)
    try FileManager.default.removeItem(atPath: broken)
    desk.daemon?.signal(SIGHUP)
    try eventually("the former value is back") { try limits(line)?["subscriptions"] == 6 }
    try FileManager.default.removeItem(at: desk.folder.appendingPathComponent("sdkd.toml.d"))
    _ = try line.call("daemon.reload")
    #expect(try limits(line)?["subscriptions"] == 4)
  }

  @Test("A start with a broken drop-in serves nobody, and says which file it is")
  func brokenStart() throws {
    let desk = try Desk()
    let file = try desk.write("sdkd.toml.d/a.toml", "[log]\nlevl = \"debug\"\n").path
    try desk.start()
    let line = try desk.connect()
    #expect(try line.failure("instance.list").reason == "storeUnavailable")
    #expect(try desk.check("configuration", on: line)?["detail"]?.stringValue?.hasPrefix("\(file):2: log.levl") == true)
    try desk.write("sdkd.toml.d/a.toml", "[log]\nlevel = \"debug\"\n")
    _ = try line.call("daemon.reload")
    #expect(try line.call("instance.list")["instances"] == [])
  }
}
