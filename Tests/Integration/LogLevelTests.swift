import Foundation
import Glibc
import JSONRPC
import Testing

/// `daemon.setLogLevel` and `sdkctl log-level`, with the real daemon's log.
@Suite struct LogLevelTests {
  @Test("The level is raised for a while, returns by itself, and shows requests and states without a secret")
  func life() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    try desk.create("desk", on: line)
    #expect(try desk.sdkctl("log-level").output == "info\n")
    let jwt = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    #expect(!desk.logs.contains(" debug "))

    let set = try line.call("daemon.setLogLevel", ["level": "debug", "seconds": 600])
    #expect(set["level"] == "debug" && set["configured"] == "info" && set["until"] != nil)
    try line.call("messaging.logoutUser", ["instance": "desk"])
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(jwt)])
    try eventually("the log shows requests and states") {
      desk.logs.contains("debug instance=desk POST http://127.0.0.1:")
        && desk.logs.contains("The state is authenticated; it was ")
    }
    #expect(!desk.logs.contains(jwt))
    try line.call("daemon.setLogLevel", ["level": "debug", "seconds": 1])
    try eventually("the level is the configured one again") {
      try line.call("daemon.info")["journal"] == ["level": "info", "configured": "info"]
    }
    try eventually("the log has both changes") {
      desk.logs.contains("The level of the journal is debug until ")
        && desk.logs.contains("The level of the journal is info.")
    }
    let count = desk.logs.components(separatedBy: " debug ").count
    try line.call("messaging.logoutUser", ["instance": "desk"])
    #expect(desk.logs.components(separatedBy: " debug ").count == count)
    try eventually("the audit has the call") { desk.logs.contains("daemon.setLogLevel") }
  }

  @Test("A command sets and resets the level; a restart and a changed configuration do so too")
  func ends() throws {
    let desk = try Desk.open()
    let set = try desk.sdkctl("log-level", "debug", "--for", "30m")
    #expect(set.status == 0 && set.output.hasPrefix("debug until ") && set.output.hasSuffix("Z, then info\n"), "\(set)")
    #expect(try desk.sdkctl("log-level").output == set.output)
    #expect(try desk.sdkctl("log-level", "reset").output == "info\n")
    for wrong in [["debug", "--for", "2d"], ["debug", "--for", "0s"], ["reset", "--for", "1m"], ["loud"]] {
      #expect(try desk.sdkctl(["log-level"] + wrong).status == 2, "\(wrong)")
    }

    let line = try desk.connect()
    try line.call("daemon.setLogLevel", ["level": "error"])
    try line.call("daemon.reload")
    #expect(try line.call("daemon.info")["journal"]?["level"] == "error")
    try desk.write("sdkd.toml.d/log.toml", "[log]\nlevel = \"notice\"\n")
    try line.call("daemon.reload")
    #expect(try line.call("daemon.info")["journal"] == ["level": "notice", "configured": "notice"])
    try line.call("daemon.setLogLevel", ["level": "debug"])
    desk.stop()
    try desk.start()
    #expect(try desk.sdkctl("log-level").output == "notice\n")
  }

  @Test(
    "Only an admin sets the level, and is told it", .enabled(if: getuid() == 0, "needs root for another user's process")
  )
  func admins() throws {
    let desk = try Desk.open()
    func run(_ arguments: String...) throws -> Desk.CommandRun {
      try desk.sdkctl(arguments, before: ["/usr/bin/setpriv", "--reuid=1001", "--regid=1001", "--clear-groups"])
    }
    #expect(try run("log-level").status == 4)
    #expect(try run("log-level", "debug").status == 4)
    let line = try desk.connect()
    #expect(try line.failure("daemon.setLogLevel", ["level": "debug", "seconds": 86_401]).reason == "invalidParams")
    #expect(try line.failure("daemon.setLogLevel", ["level": "debug", "seconds": 0]).reason == "invalidParams")
    #expect(try line.failure("daemon.setLogLevel", ["level": "loud"]).reason == "invalidParams")
  }
}
