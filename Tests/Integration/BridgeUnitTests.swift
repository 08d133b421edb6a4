import Foundation
import Glibc
import JSONRPC
import Testing

/// Token providers as systemd units: the daemon, the shipped wrapper, and `systemd-socket-activate` as `Accept=yes`.
@Suite struct BridgeUnitTests {
  private static let mint = "'\(Program.path("sdk-sandbox"))' mint --external-id \"$SDKD_EXTERNAL_ID\""

  private func desk(_ provider: JSONObject = [:]) throws -> (Desk, Line, first: String) {
    let desk = try Desk.openWithUnits()
    let line = try desk.connect()
    let unit: JSONObject = ["unit": "front-desk"]
    try desk.create(
      "desk", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
      provider: .object(unit.merged(with: provider)))
    let first = try Vendor.mint("alice")
    try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
    return (desk, line, first)
  }

  private func lastExit(_ line: Line) throws -> String? {
    try line.call("instance.get", ["instance": "desk"])["bridge"]?["lastExit"]?.stringValue
  }

  @Test func aUnitAnswersTheSameQuestion() throws {
    let (desk, line, first) = try desk()
    let unit = try desk.unit(
      "front-desk",
      "cd '\(desk.folder.path)' || exit 1\ncat > input; env | grep ^SDKD_ | sort > env; ls /proc/self/fd > fds\n"
        + "echo trouble >&2; exec \(Self.mint)")
    let token = try line.call("token.refresh", ["instance": "desk"])
    #expect(token["token"] != .string(first))
    #expect(try lastExit(line) == "0")
    func read(_ name: String) throws -> String {
      try String(contentsOf: desk.folder.appendingPathComponent(name), encoding: .utf8)
    }
    let input = try JSONParser.parse(try read("input"))
    #expect(input["version"] == 1)
    #expect(input["question"] == "getToken")
    #expect(input["user"]?["externalId"] == "alice")
    #expect(
      try read("env")
        == "SDKD_ATTEMPT=1\nSDKD_EXTERNAL_ID=alice\nSDKD_INSTANCE=desk\nSDKD_KIND=zendesk.messaging\nSDKD_QUESTION=getToken\n"
    )
    // Descriptor 3 is the directory that `ls` itself reads.
    #expect(Set(try read("fds").split(separator: "\n")).isSubset(of: ["0", "1", "2", "3"]))
    // Standard error goes to the unit's own journal, not to the daemon's.
    #expect(unit.logText.contains("trouble"))
    #expect(!desk.logs.contains("trouble"))
  }

  @Test("The doctor names the program of a unit that is missing or can't be executed, and the advice mends it")
  func doctorNamesTheProgramOfAUnit() throws {
    let refresh = "sdkctl refresh desk"
    let (desk, line, first) = try desk()
    let unit = try desk.unit("front-desk", Self.mint)
    let program = desk.folder.appendingPathComponent("unit-front-desk").path
    let file = try desk.write(
      "unit.txt", "# /etc/x\n[Service]\nExecStart=/usr/libexec/sdkd-provider \(program) --a b\n")
    try desk.write(
      "bin/systemctl",
      "#!/bin/sh\ncase \"$*\" in *cat*sdkd-provider-front-desk@.service*) cat '\(file.path)' ;; esac\n",
      mode: 0o755)
    func finding() throws -> JSON? {
      let path = "\(desk.folder.path)/bin:/usr/bin:/bin"
      let run = try desk.sdkctl(["doctor", "--timeout", "60s", "-o", "json"], environment: ["PATH": path])
      return try JSONParser.parse(run.output).arrayValue?.first { $0["check"] == "provider" }
    }
    let name = "desk: \(program), the program of the unit front-desk,"

    #expect(chmod(program, 0o644) == 0)
    _ = try line.failure("token.refresh", ["instance": "desk"])
    #expect(try lastExit(line) == "126")
    let closed = try finding()
    #expect(closed?["message"] == .string("\(name) can't be executed by every user."), "\(String(describing: closed))")
    #expect(closed?["advice"] == .string("chmod 755 \(program); \(refresh)") && closed?["status"] == "failing")
    #expect(chmod(program, 0o755) == 0)
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"] != .string(first))
    #expect(try finding()?["status"] == "ok")

    #expect(rename(program, program + ".gone") == 0)
    _ = try line.failure("token.refresh", ["instance": "desk"])
    #expect(try lastExit(line) == "127")
    #expect(try finding()?["message"] == .string("\(name) does not exist."))
    let cat = "systemctl cat sdkd-provider-front-desk@.service shows ExecStart="
    #expect(
      try finding()?["advice"] == .string("\(cat); install the program, or name another there; \(refresh)"))

    try desk.write("unit-front-desk", "#!/no/such/interpreter\n", mode: 0o755)
    _ = try line.failure("token.refresh", ["instance": "desk"])
    #expect(try finding()?["message"]?.stringValue?.hasSuffix("or the interpreter in its first line.") == true)
    try desk.write("unit.txt", "")
    #expect(
      try finding()?["message"] == "desk: the program of the unit front-desk was not found (exit status 127).")
    withExtendedLifetime(unit) {}
  }

  @Test("After a good run, doctor still notices that the socket of the unit is gone")
  func doctorNoticesAMissingSocket() throws {
    let (desk, line, _) = try desk()
    let unit = try desk.unit("front-desk", Self.mint)
    try line.call("token.refresh", ["instance": "desk"])
    #expect(try lastExit(line) == "0")
    func finding() throws -> String? {
      let output = try desk.sdkctl(["doctor", "-o", "json"]).output
      let found = try JSONParser.parse(output).arrayValue?.first { $0["check"] == "provider" }
      return found.map { "\($0["status"]?.stringValue ?? "") \($0["message"]?.stringValue ?? "")" }
    }
    #expect(try finding() == "ok desk: the unit front-desk can be asked.")
    unit.signal(SIGKILL)
    let socket = desk.unitSockets.appendingPathComponent("front-desk.sock").path
    unlink(socket)
    #expect(try finding() == "failing desk: there is no socket at \(socket).")
  }

  @Test(
    "A unit gets the input that its provider is configured with",
    arguments: [("none", ""), ("git", "protocol=https\nhost=HOST\nusername=alice\n\n")])
  func otherInput(input: String, expected: String) throws {
    let (desk, line, _) = try desk(["input": .string(input)])
    let unit = try desk.unit(
      "front-desk", "cd '\(desk.folder.path)' || exit 1\ncat > input; env | grep -c ^SDKD_ > env; exec \(Self.mint)")
    #expect(try line.call("token.refresh", ["instance": "desk"])["fromCache"] == false, "\(unit.logText)")
    func read(_ name: String) throws -> String {
      try String(contentsOf: desk.folder.appendingPathComponent(name), encoding: .utf8)
    }
    let url = try #require(URL(string: try desk.vendor.messaging))
    let host = "\(url.host ?? "")\(url.port.map { ":\($0)" } ?? "")"
    #expect(try read("input") == expected.replacingOccurrences(of: "HOST", with: host))
    #expect(try read("env") == "5\n", "the variables come from the question all the same")
  }

  @Test(arguments: [
    ("exit 3", "providerFailed", "3"), ("exit 75", "providerFailed", "75"),
    ("kill -9 $$", "providerFailed", "signal 9"),
    ("true", "providerOutputInvalid", "0"), ("echo two words", "providerOutputInvalid", "0"),
    ("yes", "providerOutputInvalid", "output"), ("sleep 60", "providerTimeout", "timeout"),
    // A trailer that the program itself prints is ordinary output.
    ("printf 'token\\0sdkd-exit 0\\n'; exit 3", "providerFailed", "3"),
    ("printf 'token\\0sdkd-exit 0\\n'", "providerOutputInvalid", "0"),
    ("echo '{\"success\": false, \"code\": \"E1\", \"message\": \"no desk\"}'; exit 1", "providerFailed", "1"),
  ])
  func itsEndingsMeanWhatACommandsMean(script: String, reason: String, exit: String) throws {
    let (desk, line, first) = try desk(["timeout": "2s"])
    let unit = try desk.unit("front-desk", script)
    let error = try line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == reason)
    #expect(try lastExit(line) == exit)
    #expect(try line.call("token.get", ["instance": "desk"])["token"] == .string(first))
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func aNoIsTheOwnersLastWord() throws {
    let (desk, line, _) = try desk()
    let unit = try desk.unit("front-desk", "exit 77")
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerDenied")
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func aHangingProgramIsEndedWithItsGroup() throws {
    let (desk, line, _) = try desk(["timeout": "1s"])
    let pids = desk.folder.appendingPathComponent("pids")
    let unit = try desk.unit(
      "front-desk", "trap '' TERM; echo $$ >> '\(pids.path)'; sleep 300 & echo $! >> '\(pids.path)'; wait; sleep 300")
    #expect(try line.failure("token.refresh", ["instance": "desk"]).reason == "providerTimeout")
    let numbers = try String(contentsOf: pids, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(numbers.count == 2)
    try eventually("the program and its child are dead") { numbers.allSatisfy { !isAlive($0) } }
    #expect(unit.exit(within: 0) == nil)
  }

  @Test(
    "With concurrency = 1 a unit runs again only when its former program has ended",
    arguments: ["providerTimeout", "providerOutputInvalid", "superseded"])
  func aSlotLastsAsLongAsTheProgram(ending: String) throws {
    let (desk, line, first) = try desk(["timeout": ending == "providerTimeout" ? "1s" : "60s"])
    let log = desk.folder.appendingPathComponent("runs")
    let work = ending == "providerOutputInvalid" ? "yes" : "sleep 300"
    let unit = try desk.unit(
      "front-desk",
      "trap 'sleep 0.2; echo end >> \(log.path); exit 0' TERM; echo begin >> \(log.path); \(work) & wait; sleep 300")
    func runs() -> [Substring] { ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n") }
    let call = line.begin("token.refresh", ["instance": "desk"])
    if ending == "superseded" {
      try eventually("the program runs") { runs() == ["begin"] }
      try line.call("messaging.logoutUser", ["instance": "desk"])
      try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(first)])
    }
    #expect(try line.answer(call)["error"]?["data"]?["reason"] == .string(ending))
    line.begin("token.refresh", ["instance": "desk"])
    try eventually("it runs again") { runs().count { $0 == "begin" } == 2 }
    #expect(runs().prefix(3) == ["begin", "end", "begin"])
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func aProgramEndsWithTheDaemonThatAsked() throws {
    let (desk, line, _) = try desk(["timeout": "60s"])
    let pids = desk.folder.appendingPathComponent("pids")
    let unit = try desk.unit("front-desk", "echo $$ > '\(pids.path)'; exec sleep 300")
    line.begin("token.refresh", ["instance": "desk"])
    var pid = ""
    try eventually("the program runs") {
      pid = ((try? String(contentsOf: pids, encoding: .utf8)) ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
      return !pid.isEmpty
    }
    desk.daemon?.signal(SIGKILL)
    try eventually("the program is dead") { !isAlive(pid) }
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func whatAProgramLeavesBehindHoldsNobodyUp() throws {
    let (desk, line, first) = try desk(["timeout": "60s"])
    let pids = desk.folder.appendingPathComponent("pids")
    let unit = try desk.unit(
      "front-desk", "sleep 300 & echo $! >> '\(pids.path)'; setsid sleep 300 & echo $! >> '\(pids.path)'; \(Self.mint)")
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"] != .string(first))
    let numbers = try String(contentsOf: pids, encoding: .utf8).split(separator: "\n").map(String.init)
    // The second process left the process group. systemd would end it with the unit; here the test has to.
    try eventually("the child is dead") { !isAlive(numbers[0]) }
    if let escaped = pid_t(numbers[1]) { kill(escaped, SIGKILL) }
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func aProgramThatCantBeStartedIsSaidLikeAShellSaysIt() throws {
    let (desk, line, _) = try desk()
    let unit = try desk.unit("front-desk", "", wrapper: [Program.path("sdkd-provider"), "/nowhere/provider"])
    let error = try line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == "providerFailed")
    #expect(error.message.contains("journalctl -u 'sdkd-provider-front-desk@*'"))
    #expect(try lastExit(line) == "127")
    #expect(unit.logText.contains("/nowhere/provider can't be started"))
  }

  @Test func withoutTheWrapperNothingSaysHowItEnded() throws {
    let (desk, line, _) = try desk()
    let unit = try desk.unit("front-desk", "echo token", wrapper: [])
    let error = try line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == "providerFailed")
    #expect(error.message.contains("ended without saying how"))
    #expect(try lastExit(line) == "lost")
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func aUnitThatIsNotStartedIsSaidWithWhatToDo() throws {
    let (desk, line, _) = try desk()
    let missing = try line.failure("token.refresh", ["instance": "desk"])
    #expect(missing.reason == "providerFailed")
    #expect(missing.message.contains("systemctl enable --now sdkd-provider-front-desk.socket"))
    #expect(try lastExit(line) == "notStarted")
    let unit = try desk.unit("front-desk", "exit 0")
    unit.signal(SIGKILL)
    _ = unit.exit(within: 10)
    let silent = try line.failure("token.refresh", ["instance": "desk"])
    #expect(silent.message.contains("Nobody listens"))
    #expect(silent.message.contains("systemctl restart sdkd-provider-front-desk.socket"))
  }

  @Test func onlyASocketThatNobodyElseCanHavePutThereIsAsked() throws {
    let (desk, line, first) = try desk()
    let unit = try desk.unit("front-desk", "exec \(Self.mint)")
    let socket = desk.unitSockets.appendingPathComponent("front-desk.sock").path
    func refusal() throws -> String {
      let error = try line.failure("token.refresh", ["instance": "desk"])
      #expect(error.reason == "providerNotAllowed")
      return error.message
    }
    chmod(socket, 0o666)
    #expect(try refusal().contains("SocketMode=0600"))
    chmod(socket, 0o600)
    chmod(desk.unitSockets.path, 0o777)
    #expect(try refusal().contains("others can write"))
    chmod(desk.unitSockets.path, 0o755)
    chown(socket, 65_534, 65_534)
    #expect(try refusal().contains("belongs to uid 65534"))
    chown(socket, 0, 0)
    rename(socket, socket + ".real")
    try desk.write("u/front-desk.sock", "")
    #expect(try refusal().contains("is no socket"))
    unlink(socket)
    rename(socket + ".real", socket)
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"] != .string(first))
    #expect(unit.exit(within: 0) == nil)
  }

  @Test func onlyRootOrTheDaemonsUserMayListen() throws {
    let (desk, line, _) = try desk()
    chown(desk.unitSockets.path, 65_534, 65_534)
    let unit = try desk.unit(
      "front-desk", "echo token", before: ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    chown(desk.unitSockets.path, 0, 0)
    chown(desk.unitSockets.appendingPathComponent("front-desk.sock").path, 0, 0)
    let error = try line.failure("token.refresh", ["instance": "desk"])
    #expect(error.reason == "providerNotAllowed")
    #expect(error.message.contains("a process of uid 65534 listens"))
    #expect(unit.exit(within: 0) == nil)
  }

  @Test(arguments: [
    #"{"unit": "a/b"}"#, #"{"unit": ""}"#, #"{"unit": "a", "command": ["/bin/true"]}"#, "{}",
    #"{"unit": "a", "environment": {"A": "b"}}"#, #"{"unit": "a", "shell": true}"#, #"{"unit": "a", "timeout": "11m"}"#,
  ]) func whatIsNoUnitIsRefused(provider: String) throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    #expect(throws: RPCError.self) { try desk.create("desk", on: line, provider: try JSONParser.parse(provider)) }
  }

  @Test func aProviderCanBeChangedToAUnit() throws {
    let (desk, line, first) = try desk()
    let unit = try desk.unit("other", "exec \(Self.mint)")
    try line.call("instance.update", ["instance": "desk", "provider": ["unit": "other"]])
    #expect(try line.call("instance.get", ["instance": "desk"])["provider"]?["unit"] == "other")
    #expect(try line.call("token.refresh", ["instance": "desk"])["token"] != .string(first))
    #expect(unit.exit(within: 0) == nil)
  }

  @Test("A stop does not wait for a unit whose listener takes no connection")
  func aStopDoesNotWaitForAFullQueue() throws {
    let (desk, line, _) = try desk(["timeout": "60s"])
    let script = """
      import os, socket, sys, time
      listener, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
      listener.bind(sys.argv[1])
      os.chmod(sys.argv[1], 0o600)
      listener.listen(0)
      client.connect(sys.argv[1])
      print("full", flush=True)
      time.sleep(300)
      """
    let log = desk.folder.appendingPathComponent("listener")
    let path = desk.unitSockets.appendingPathComponent("front-desk.sock").path
    let listener = try Program("/usr/bin/python3", ["-c", script, path], output: log, log: log)
    try eventually("the queue is full") { listener.logText.contains("full") }
    line.begin("token.refresh", ["instance": "desk"])
    usleep(500_000)
    // Without an end of the wait, the stop would take the 60 seconds of the provider; `stop` waits for 30.
    #expect(desk.stop() == 0)
  }

  @Test func manyQuestionsAtATime() throws {
    let (desk, line, _) = try desk()
    let unit = try desk.unit("front-desk", "exec \(Self.mint)")
    for number in 0..<20 {
      try desk.create(
        "d\(number)", on: line, settings: ["refresh": ["mode": "lazy", "min_interval": 0]],
        provider: ["unit": "front-desk", "timeout": "60s"])
      try line.call(
        "messaging.loginUser", ["instance": .string("d\(number)"), "jwt": .string(try Vendor.mint("user\(number)"))])
    }
    let calls = (0..<20).map { line.begin("token.refresh", ["instance": .string("d\($0)")]) }
    for call in calls { #expect(try line.answer(call, within: 90)["result"]?["fromCache"] == false) }
    #expect(unit.exit(within: 0) == nil)
  }
}

/// Whether a process exists and is not a zombie.
func isAlive(_ pid: String) -> Bool {
  guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
  return stat.split(separator: ")").last?.split(separator: " ").first != "Z"
}
