import Foundation
import Glibc
import JSONRPC
import Testing

/// Processes that providers leave behind, and the environment, descriptors and directory that providers start with.
@Suite struct BridgeLeftoverTests {
  /// Returns a script that starts a classic Unix daemon, forked twice and in a session of its own. The daemon appends
  /// its pid to the file `pids` before the script continues.
  private static func daemon(_ pids: String) -> String {
    """
    python3 - <<'END'
    import os, signal
    ready, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(0); os.close(1); os.close(2)
            with open('\(pids)', 'a') as file: file.write('%d\\n' % os.getpid())
            os.write(tell, b'.')
            signal.pause()
        os._exit(0)
    os.wait()
    os.read(ready, 1)
    END
    """
  }

  private func pids(_ desk: BridgeDesk) -> [String] { desk.read("pids").split(separator: "\n").map(String.init) }

  @Test(arguments: ["child", "session", "daemon"]) func isDeadWithTheAnswer(kind: String) throws {
    let desk = try BridgeDesk()
    let leave =
      switch kind {
      case "child": "sleep 300 & echo $! >> '\(desk.path("pids"))'"
      case "session": "setsid sleep 300 & echo $! >> '\(desk.path("pids"))'"
      default: Self.daemon(desk.path("pids"))
      }
    _ = try desk.desk.provider("\(leave)\nexec \(BridgeDesk.mint)")
    #expect(try desk.line.call("token.refresh", ["instance": "desk"], within: 60)["fromCache"] == false)
    #expect(pids(desk).count == 1)
    for pid in pids(desk) { #expect(!isAlive(pid)) }
  }

  @Test func isDeadThoughAnotherProviderRunsOn() throws {
    let desk = try BridgeDesk()
    let hang = try desk.desk.provider("touch '\(desk.path("hangs"))'; exec sleep 60", name: "hang").objectValue ?? [:]
    try desk.desk.create(
      "other", on: desk.line, settings: BridgeDesk.lazy, provider: .object(hang.merged(with: ["timeout": "2m"])))
    try desk.line.call("messaging.loginUser", ["instance": "other", "jwt": .string(try Vendor.mint("bob"))])
    let waiting = try desk.desk.connect()
    waiting.begin("token.refresh", ["instance": "other"])
    try eventually("the other provider hangs") { FileManager.default.fileExists(atPath: desk.path("hangs")) }
    _ = try desk.desk.provider("\(Self.daemon(desk.path("pids")))\nexec \(BridgeDesk.mint)")
    #expect(try desk.line.call("token.refresh", ["instance": "desk"], within: 60)["fromCache"] == false)
    #expect(pids(desk).count == 1)
    for pid in pids(desk) { #expect(!isAlive(pid)) }
  }

  @Test("A child of the shell that became the daemon is left alone")
  func strangersLive() throws {
    let desk = try Desk()
    let file = desk.folder.appendingPathComponent("stranger")
    try desk.start(before: "sleep 300 & echo $! > '\(file.path)'")
    let pid = try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    defer { if let number = pid_t(pid) { kill(number, SIGKILL) } }
    let line = try desk.connect()
    try desk.create(
      "desk", on: line, settings: BridgeDesk.lazy, provider: try desk.provider("exec \(BridgeDesk.mint)"))
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(try Vendor.mint("alice"))])
    #expect(try line.call("token.refresh", ["instance": "desk"], within: 60)["fromCache"] == false)
    #expect(isAlive(pid))
  }

  @Test func aHealthyProviderWaitsForNoSweep() throws {
    let desk = try BridgeDesk("echo \"$T\"", ["environment": ["T": .string(try Vendor.mint("alice", ttl: 1800))]])
    // A sweep without leftovers costs nothing, so a run takes a few milliseconds, however many runs came before.
    let began = Date()
    for _ in 0..<20 { try desk.line.call("token.refresh", ["instance": "desk"]) }
    #expect(Date().timeIntervalSince(began) < 20)
  }

  @Test func theEnvironmentAndTheDescriptorsAreClean() throws {
    let desk = try BridgeDesk(
      environment: [
        "CREDENTIALS_DIRECTORY": "/nowhere", "WATCHDOG_USEC": "9000000000", "INVOCATION_ID": "x", "TZ": "UTC",
        "HUSH": "hush",
      ])
    let script =
      "cd '\(desk.desk.folder.path)' || exit 1\n"
      + "env | cut -d= -f1 | sort > env; ls /proc/self/fd > fds; pwd > where; cat > input; exec \(BridgeDesk.mint)"
    var provider = try desk.desk.provider(script).objectValue ?? [:]
    provider["environment"] = ["ORG": "acme"]
    provider["pass_environment"] = ["TZ", "UNSET"]
    provider["working_directory"] = "/var"
    try desk.use(.object(provider))
    try desk.line.call("token.refresh", ["instance": "desk"])
    let names = Set(desk.read("env").split(separator: "\n").map(String.init))
    let shells: Set<String> = ["PWD", "OLDPWD", "_", "SHLVL"]
    #expect(
      names.subtracting(shells).subtracting(["HOME", "LANG"]) == [
        "ORG", "PATH", "SDKD_ATTEMPT", "SDKD_EXTERNAL_ID", "SDKD_INSTANCE", "SDKD_KIND", "SDKD_QUESTION", "SDKD_RUN",
        "TZ",
      ])
    // Descriptor 3 is the directory that `ls` itself reads.
    #expect(Set(desk.read("fds").split(separator: "\n")).isSubset(of: ["0", "1", "2", "3"]))
    let input = try JSONParser.parse(desk.read("input"))
    #expect(input["version"] == 1)
    #expect(input["question"] == "getToken")
    #expect(input["instance"] == "desk")
    #expect(input["user"]?["externalId"] == "alice")
  }

  @Test func itRunsWhereAndHowItIsTold() throws {
    let desk = try BridgeDesk()
    try desk.use([
      "command": .string(
        "pwd > '\(desk.path("where"))'; printf '%s' \"$A\" | tr a-z A-Z >> '\(desk.path("where"))'; exec \(BridgeDesk.mint)"
      ),
      "shell": true, "working_directory": "/usr", "environment": ["A": "b c"],
    ])
    #expect(try desk.line.call("token.refresh", ["instance": "desk"])["fromCache"] == false)
    #expect(desk.read("where") == "/usr\nB C")
  }

  @Test func outputIsBounded() throws {
    let token = try Vendor.mint("alice", ttl: 1800)
    let desk = try BridgeDesk("printf '%s' '\(token)'", ["max_output": JSON(token.utf8.count)])
    #expect(try desk.line.call("token.refresh", ["instance": "desk"])["token"]?.stringValue == token)
    try desk.use(["max_output": JSON(token.utf8.count - 1)])
    #expect(try desk.line.failure("token.refresh", ["instance": "desk"]).reason == "providerOutputInvalid")
    #expect(try desk.bridge()["lastExit"] == "output")
  }
}
