import ArgumentParser
import Foundation
import JSONRPC
import SDKClient
import SDKProtocol
import Testing

@testable import sdkctl

/// The findings of `sdkctl doctor`.
@Suite struct DoctorTests {
  private static let document: JSON = [
    "x-kinds": [
      [
        "name": "test.kind",
        "settings": [
          "properties": [
            "base_url": ["type": "string", "format": "uri"], "realtime_url": ["type": "string", "format": "uri"],
            "app_id": ["type": "string"],
          ]
        ],
      ]
    ]
  ]

  private func instance(_ id: String, _ settings: JSONObject) -> JSON {
    var object = Samples.instance(id).objectValue ?? [:]
    object["settings"] = .object(settings)
    return .object(object)
  }

  @Test func aServerOfSeveralInstancesIsLookedAtOnce() {
    let origins = VendorCheck.origins(
      of: [
        instance(
          "a", ["base_url": "https://acme.example/x", "realtime_url": "wss://acme.example", "app_id": "https://no"]),
        instance("b", ["base_url": "https://acme.example", "realtime_url": "http://other.example:81/y?z"]),
        instance("c", ["base_url": "https://user:secret@acme.example/"]),
      ], Self.document)
    #expect(
      origins == [
        .init(url: "https://acme.example", instances: ["a", "b"]),
        .init(url: "http://other.example:81", instances: ["b"]),
      ])
  }

  @Test("A server is looked at on the daemon's way, whatever the environment of sdkctl says")
  func theWayToAServer() {
    let origins = VendorCheck.origins(
      of: [
        instance("a", ["base_url": "https://acme.example"]),
        instance("b", ["base_url": "https://acme.example", "proxy": "http://own.example:1"]),
        instance("c", ["base_url": "https://acme.example", "proxy": "none"]),
      ], Self.document)
    let direct = ["--noproxy", "*"]
    #expect(origins.map(VendorCheck(origins: []).way).map(\.first) == ["--noproxy", "--proxy", "--noproxy"])
    let check = VendorCheck(origins: [], proxy: "http://proxy.example:3128", exceptions: ["intranet.example"])
    let ways = origins.map(check.way)
    #expect(ways.first?.prefix(2) == ["--proxy", "http://proxy.example:3128"])
    #expect(ways.first?.last?.hasSuffix(",intranet.example") == true)
    #expect(ways.dropFirst().first?[1] == "http://own.example:1")
    #expect(ways.last == direct)
    #expect(origins.map(VendorCheck(origins: [], knowsProxy: false).way).first == [])
  }

  @Test("A server is checked with the authorities that the daemon trusts there")
  func authorities() throws {
    let origins = VendorCheck.origins(
      of: [
        instance("a", ["base_url": "https://acme.example", "ca_file": "/etc/own.pem"]),
        instance("b", ["base_url": "https://acme.example"]),
      ], Self.document)
    #expect(origins.map(\.caFile) == ["/etc/own.pem", nil])
    #expect(TrustedAuthorities.file("/etc/own.pem").options.prefix(2) == ["--cacert", "/etc/own.pem"])
    #expect(TrustedAuthorities.system.options.isEmpty)
    let settings = FileSettings(entries: [["key": "network.ca_file", "value": "/a.pem"]])
    #expect(TrustedAuthorities(settings, process: nil) == .file("/a.pem"))
    #expect(TrustedAuthorities(FileSettings(entries: []), process: nil) == .unknown, "the environment is not known")
    #expect(TrustedAuthorities(inEnvironment: "A=1\0SSL_CERT_FILE=/a.pem\0") == .file("/a.pem"))
    #expect(TrustedAuthorities(inEnvironment: "SSL_CERT_FILE=\0B=2\0") == .system)
    #expect(TrustedAuthorities(inEnvironment: "SSL_CERT_DIR=/a\0") == .unknown)
    #expect(TrustedAuthorities(nil, process: nil) == .unknown)
  }

  @Test("A certificate of an unknown authority is a failure only where the daemon does not trust it either")
  func unknownAuthority() {
    func finding(_ error: String, _ authorities: TrustedAuthorities) -> Finding {
      let ended = ChildProcess.Ended(status: 60, bytes: [], errors: "curl: (60) SSL certificate problem: \(error)\n")
      return VendorCheck.failure(ended, "https://acme.example (desk)", [], authorities)
    }
    let unsigned = "unable to get local issuer certificate"
    #expect(finding(unsigned, .unknown).status == .warning)
    #expect(finding(unsigned, .unknown).message.contains("This user can't see whether the daemon has a ca_file"))
    #expect(finding("certificate has expired", .unknown).status == .failing)
    #expect(finding(unsigned, .system).status == .failing)
    #expect(finding(unsigned, .system).advice == "look at the clock and at the package ca-certificates")
    #expect(finding(unsigned, .file("/etc/own.pem")).status == .failing)
    #expect(finding(unsigned, .file("/etc/own.pem")).advice == "look at the clock and at /etc/own.pem")
    let missing = ChildProcess.Ended(status: 77, bytes: [], errors: "curl: (77) error setting certificate file\n")
    let found = VendorCheck.failure(missing, "https://acme.example (desk)", [], .file("/none.pem"))
    #expect(found.status == .failing && found.advice == "look at /none.pem")
  }

  @Test("Advice for a tenant's provider names the tenant's unit and daemon")
  func tenantProvider() throws {
    let place = try DaemonPlace(.tenant("acme")).adding(["paths": ["unitSockets": "/run/sdkd-providers/acme"]])
    var instance = Samples.instance("desk").objectValue ?? [:]
    instance["provider"] = ["unit": "front-desk"]
    instance["bridge"] = ["state": "open", "lastExit": "notStarted"]
    let findings = ProviderCheck(instance: .object(instance), daemon: nil, place: place).findings
    #expect(
      findings.map(\.advice) == [
        "systemctl enable --now sdkd-provider-acme-front-desk.socket",
        "read why: sdkctl --tenant acme logs desk; then sdkctl --tenant acme refresh desk",
      ])
  }

  @Test("In a container a daemon has no unit and no credential, and its files are in their usual places")
  func container() throws {
    let place = try DaemonPlace(.system, isInContainer: true)
      .adding(["paths": ["unitSockets": "/run/sdkd-providers", "configuration": "/etc/sdkd/sdkd.toml"]])
    #expect(place.unit == nil && place.keyRecovery == nil)
    #expect(place.configuration == "/etc/sdkd/sdkd.toml" && place.state == "/var/lib/sdkd")
    #expect(place.systemctl("restart", "service", byHand: "restart it") == "restart it")
    #expect(RestoreVerb.next(place) == "start the daemon, then sdkctl status")
    #expect(UnitAnswer(place, until: .now + .seconds(1)).check == nil)
    #expect(
      ProviderCheck.missingSocket(of: "front-desk", id: "desk", place)?.advice
        == "set provider.command: no unit runs in a container")
  }

  @Test("A provider that the daemon refused to run is failing, with the daemon's reason")
  func refusedProvider() throws {
    let place = try DaemonPlace(.system)
    func findings(_ exit: String, _ reason: String) -> [Finding] {
      var instance = Samples.instance("desk").objectValue ?? [:]
      instance["provider"] = ["command": ["mint"], "shell": true]
      instance["bridge"] = ["state": "closed", "lastExit": .string(exit)]
      instance["lastError"] = ["reason": .string(reason), "message": "Others can write it."]
      return ProviderCheck(instance: .object(instance), daemon: 0, place: place).findings
    }
    let advice = "read why: sdkctl logs desk; then sdkctl refresh desk"
    #expect(
      findings("notAllowed", "providerNotAllowed")
        == [Finding(.failing, "provider", "desk: Others can write it.", advice: advice)])
    #expect(
      findings("notAllowed", "network")
        == [Finding(.failing, "provider", "desk: The daemon refused to run the token provider.", advice: advice)])
    #expect(findings("0", "providerNotAllowed").map(\.status) == [.ok])
  }

  @Test("Advice for a missing program names the instance, or the directory of the instance's file")
  func missingProgram() throws {
    let place = try DaemonPlace(.tenant("acme"))
    func advice(_ source: String) -> [String?] {
      var instance = Samples.instance("desk").objectValue ?? [:]
      instance["provider"] = ["command": ["/no/such/program"]]
      instance["source"] = .string(source)
      return ProviderCheck(instance: .object(instance), daemon: 0, place: place).findings.map(\.advice)
    }
    #expect(
      advice("api") == [
        "install it, or name another: sdkctl --tenant acme update desk --provider-command …; then sdkctl --tenant acme refresh desk"
      ])
    let file = "/etc/sdkd-tenants/acme/instances.d"
    #expect(
      advice("file") == [
        "install it, or name another in its file in \(file), then sdkctl --tenant acme reload; "
          + "then sdkctl --tenant acme refresh desk"
      ])
  }

  @Test("A user without a role is not advised to replace the rules of others")
  func adviceOnRights() async throws {
    let verb = try #require(try CommandRoot.parseAsRoot(["doctor"]) as? DoctorVerb)
    let context = CommandContext(verb.global, Output { _ in }, Output { _ in }, .standard, nil)
    let (place, caller) = (try DaemonPlace(.tenant("acme")), Caller(uid: 65534, groups: []))
    let found = await RightsCheck(caller: caller, context: context).findings([], isAdmin: false, place)
    let advice = try #require(found.first?.advice)
    #expect(advice.contains("add user:\(caller.name) to the rules that sdkctl --tenant acme show INSTANCE lists"))
    #expect(advice.contains("/etc/sdkd-tenants/acme/instances.d"))
    #expect(!advice.contains("--access-use user:"))
  }

  @Test("A unit that was given up is a failure, with the commands that start it again")
  func aUnitThatWasGivenUpIsAFailure() throws {
    func finding(_ service: String, _ socket: String = "ActiveState=active", tenant: String? = nil) throws -> Finding? {
      let place = try DaemonPlace(tenant.map(SocketLocation.tenant) ?? .system)
      return UnitCheck(place: place, service: .init(service), socket: .init(socket)).findings.first
    }
    let failed = try finding("ActiveState=failed\nSubState=failed\nResult=exit-code\nNRestarts=60\n")
    #expect(failed?.status == .failing)
    #expect(failed?.message == "sdkd.service is failed (exit-code), 60 restarts.")
    let repair = "systemctl reset-failed sdkd.socket sdkd.service; systemctl start sdkd.socket sdkd.service"
    #expect(failed?.advice?.hasSuffix(repair) == true)

    let credential = try finding("ActiveState=failed\nSubState=failed\nResult=exit-code\nExecMainStatus=243\n")
    #expect(credential?.message.contains("can't load a credential that a drop-in names") == true)
    #expect(credential?.advice?.hasSuffix(repair) == true)

    let second = try finding("ActiveState=failed\nSubState=failed\nResult=exit-code\nStatusText=The state is in use.\n")
    #expect(second?.message == "sdkd.service is failed (exit-code), 0 restarts. It said: The state is in use.")

    let socket = try finding(
      "ActiveState=inactive", "ActiveState=failed\nResult=service-start-limit-hit", tenant: "acme")
    #expect(socket?.message == "sdkd@acme.socket is failed (service-start-limit-hit), 0 restarts.")
    #expect(socket?.advice?.contains("systemctl reset-failed sdkd@acme.socket sdkd@acme.service") == true)

    let looping = try finding("ActiveState=activating\nSubState=auto-restart\nNRestarts=7")
    #expect(looping?.status == .failing)
    #expect(looping?.message == "sdkd.service is activating (auto-restart), 7 restarts.")
    #expect(try finding("ActiveState=active\nSubState=running\nNRestarts=0")?.status == .ok)
    let missing = "ActiveState=inactive\nSubState=dead\nLoadState=not-found"
    #expect(try finding(missing, missing) == nil)
  }

  @Test func theVendorsTimeIsRead() {
    let headers = "HTTP/1.1 301 Moved\r\nDate: x\r\n\r\nHTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n"
    #expect(VendorCheck.time(inHeaders: headers)?.secondsSince1970 == 784_111_777)
    let obsolete = VendorCheck.time(inHeaders: "Date: Sunday, 06-Nov-94 08:49:37 GMT")
    #expect(obsolete?.secondsSince1970 == 784_111_777)
    #expect(VendorCheck.time(inHeaders: "Date: 06-Nov-94 08:49:37 GMT") == nil)
    #expect(VendorCheck.time(inHeaders: "") == nil)
  }

  @Test("A unit of a rule is unknown if systemd has neither a file nor a process of it")
  func unknownUnits() {
    let rules = AccessRules(
      use: ["unit:b.service+user:root", "unit:a.service", "user-unit:c.service@root", "*"].compactMap { AccessRule($0) }
    )
    #expect(UnknownNames.units(of: rules) == ["b.service", "a.service"])
    let answer = """
      LoadState=loaded
      ActiveState=inactive

      LoadState=not-found
      ActiveState=inactive

      LoadState=not-found
      ActiveState=active

      """
    #expect(UnknownNames.units(["a.service", "b.service", "c.service"], unknownIn: answer) == ["b.service"])
    #expect(UnknownNames.units(["a.service", "b.service"], unknownIn: answer) == [], "an answer about other units")
  }

  @Test func rolesFollowFromTheRules() throws {
    let caller = Caller(uid: 0, groups: [0])
    func role(_ rules: String...) -> Role? {
      caller.role(by: AccessRules(observe: [], use: rules.compactMap { AccessRule($0) }))
    }
    #expect(role("user:root") == .use)
    #expect(role("uid:1", "group:root") == .use)
    #expect(role("uid:0+group:root") == .use)
    #expect(role("uid:0+unit:kiosk.service") == nil)
    #expect(role("user:no-such-user", "uid:1") == nil)
    #expect(role("*") == .use)
  }

  @Test func aProgramIsJudgedAsTheDaemonDoes() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doctor-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appendingPathComponent("provider")
    try Data("#!/bin/sh\n".utf8).write(to: program)
    func problem(mode: Int) throws -> String? {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: program.path)
      return ProgramPath(path: program.path, daemon: geteuid()).problem?.advice
    }
    #expect(try problem(mode: 0o755) == nil)
    #expect(try problem(mode: 0o775) == "chmod go-w \(program.path)")
    #expect(try problem(mode: 0o600) == "chmod 755 \(program.path)")
    #expect(ProgramPath(path: "/no/such/program", daemon: 0).problem?.message == "/no/such/program does not exist.")
    #expect(ProgramPath(path: "program", daemon: 0).problem != nil)
  }

  @Test func whatIsWrongIsSaidWithWhatToDo() async throws {
    let run = Run()
    let status = await run.status("--socket", "/no/such/place/s", "doctor", "--timeout", "5m", "-o", "json") {
      method, _ in
      switch method {
      case "daemon.info": return ["name": "sdkd", "version": "0.0.9", "pid": 1]
      case "daemon.health":
        return [
          "status": "failing", "checks": [["name": "store", "status": "failing", "detail": "The disk is full."]],
        ]
      case "daemon.metrics": throw SDKError.accessDenied("No.")
      case "instance.list":
        var waiting = Samples.instance("desk", state: "reauthNeeded").objectValue ?? [:]
        waiting["bridge"] = ["state": "open", "lastExit": "1", "attached": 0]
        waiting["access"] = ["use": ["*"]]
        return ["instances": [.object(waiting)]]
      case "rpc.discover": return Self.document
      default: return [:]
      }
    }
    #expect(status == 1)
    let findings = try JSONParser.parse(run.output).arrayValue ?? []
    func finding(_ check: String) -> [String?] {
      let found = findings.first { $0["check"]?.stringValue == check }
      return [found?["status"]?.stringValue, found?["message"]?.stringValue, found?["advice"]?.stringValue]
    }
    #expect(finding("socket")[0] == "failing")
    #expect(finding("daemon")[0] == "warning")
    #expect(finding("health")[0...1] == ["failing", "store: The disk is full."])
    #expect(finding("rights")[1]?.hasSuffix("has use on desk.") == true)
    #expect(finding("instance")[2] == "sdkctl login desk")
    #expect(finding("provider")[1]?.hasPrefix("desk: its provider failed with exit status 1; waiting") == true)
    // The files of a daemon at another socket can't be located, so checks of them are skipped.
    for check in ["configuration", "disk", "key", "journal"] { #expect(finding(check)[0] == "skipped", "\(check)") }
    let failure = try JSONParser.parse(run.errors)
    #expect(failure["reason"] == "failing" && failure["exitStatus"] == 1)
    #expect(!run.calls.contains { $0.method == "storage.list" })
  }

  @Test("A state that was set aside is a warning with the command that deletes it, although the daemon is well")
  func setAside() async throws {
    let name = "state.db.before-restore-20261121-215220"
    let run = Run()
    _ = await run.status("--socket", "/no/such/place/s", "doctor", "--timeout", "5m", "-o", "json") { method, _ in
      switch method {
      case "daemon.info":
        return ["name": "sdkd", "version": "0.0.9", "pid": 1, "paths": ["state": "/no/such/place/state"]]
      case "daemon.health":
        let detail = "\(name), \(name)-2: may hold keys that were destroyed since; look at it and delete it"
        return ["status": "ok", "checks": [["name": "setAside", "status": "ok", "detail": .string(detail)]]]
      case "instance.list": return ["instances": []]
      default: return [:]
      }
    }
    let found = try JSONParser.parse(run.output).arrayValue?.filter { $0["check"] == "health" } ?? []
    #expect(found.map { $0["status"] } == ["warning"])
    #expect(found.first?["message"]?.stringValue?.hasPrefix("setAside: \(name), ") == true)
    #expect(found.first?["advice"]?.stringValue == "rm /no/such/place/state/\(name)*")
    let place = try DaemonPlace(.system)
    #expect(Doctor.removal(of: "Only an admin is told why.", place) == nil)
    #expect(
      Doctor.removal(of: "state.db.corrupt-1, state.db.corrupt-2: may", place)
        == "rm /var/lib/sdkd/state.db.corrupt-1* /var/lib/sdkd/state.db.corrupt-2*")
  }

  @Test("The hints of the last login on an instance with a user are warnings")
  func theHintsOfTheLastLoginAreWarnings() async throws {
    @Sendable func login(_ id: String, _ hints: [JSON]) -> JSON {
      ["instance": .string(id), "type": "userLoggedIn", "data": ["hints": .array(hints)]]
    }
    let run = Run()
    _ = await run.status("--socket", "/no/such/place/s", "doctor", "--timeout", "5m", "-o", "json") { method, params in
      switch method {
      case "daemon.info": return ["name": "sdkd", "version": "0.0.9", "pid": 1]
      case "instance.list":
        return [
          "instances": .array(
            ["desk", "gone"].map { id in
              Samples.instance(id, state: id == "desk" ? "authenticated" : "loggedOut")
            })
        ]
      case "events.list":
        guard params["since"] == nil else { return ["events": [login("desk", ["nearExpiry", "iss: another one"])]] }
        return ["events": [login("desk", ["iss: an old one"]), login("gone", ["iss: a third"])], "next": "c"]
      default: return [:]
      }
    }
    let found = try JSONParser.parse(run.output).arrayValue?.filter { $0["check"] == "login" } ?? []
    #expect(found.map { $0["message"] } == ["desk: the last login has the hint iss: another one"])
    #expect(found.first?["status"] == "warning")
  }

  @Test("A configuration file that is named and does not exist is a failure")
  func missingConfiguration() async {
    let run = Run()
    #expect(await run.status("config", "check", "/no/such/sdkd.toml") == 78)
    #expect(run.errors == "sdkctl: There is no file /no/such/sdkd.toml. (configuration)\n")
    #expect(run.output.isEmpty)
  }

  @Test func aLineOfTheCheckIsSplit() {
    #expect(
      ConfigCheckVerb.mistake("/etc/sdkd/a.toml:12: limits.x: Not known: y")
        == ["file": "/etc/sdkd/a.toml", "line": 12, "message": "limits.x: Not known: y"])
    #expect(
      ConfigCheckVerb.mistake("/etc/sdkd/a.toml: can't be read")
        == ["file": "/etc/sdkd/a.toml", "message": "can't be read"])
  }
}
