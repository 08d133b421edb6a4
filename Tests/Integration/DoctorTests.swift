import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl doctor` and `config check` with the real daemon, vendor and files.
@Suite struct DoctorTests {
  private func run(_ desk: Desk, _ arguments: [String]) throws -> (status: Int32?, output: String, error: String) {
    let output = desk.folder.appendingPathComponent("out-\(UUID().uuidString)")
    let log = desk.folder.appendingPathComponent("err-\(UUID().uuidString)")
    let program = try Program(
      "sdkctl", arguments, environment: ["SDKD_SOCKET": desk.socket], output: output, log: log)
    let status = program.exit(within: 60)
    return (status, (try? String(contentsOf: output, encoding: .utf8)) ?? "", program.logText)
  }

  /// Returns the status and message of each finding, by the subject of the finding.
  private func findings(_ text: String) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for finding in try JSONParser.parse(text).arrayValue ?? [] {
      found[finding["check"]?.stringValue ?? "?", default: []].append(
        "\(finding["status"]?.stringValue ?? "?") \(finding["message"]?.stringValue ?? "?")")
    }
    return found
  }

  @Test func aHealthyDaemonAndItsVendor() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), provider: try desk.mintingProvider())
    let run = try run(desk, ["doctor", "--timeout", "60s", "-o", "json"])
    #expect(run.status == 0, "\(run.output)\(run.error)")
    let found = try findings(run.output)
    for check in ["socket", "daemon", "health", "rights", "vendor", "provider"] {
      #expect(found[check]?.count == 1 && found[check]?.first?.hasPrefix("ok ") == true, "\(check): \(found)")
    }
    #expect(found["vendor"]?.first?.hasSuffix("(desk) answers; its clock is this machine's.") == true)
  }

  @Test("A daemon that was started by hand tells an admin its paths, so that all checks can be made")
  func allChecksByHand() throws {
    let desk = try Desk.open(configuration: "[limits]\nconnections = 5\n")
    let info = try desk.connect().call("daemon.info")
    #expect(info["paths"]?["state"]?.stringValue == desk.state.path)
    #expect(info["paths"]?["configuration"]?.stringValue == desk.configuration.path)
    let found = try findings(try run(desk, ["doctor", "--timeout", "60s", "-o", "json"]).output)
    for check in ["configuration", "key", "disk"] {
      #expect(found[check]?.count == 1 && found[check]?.first?.hasPrefix("skipped") == false, "\(check): \(found)")
    }
    #expect(
      found["key"]?.first?.hasPrefix("ok The state is sealed with \(desk.state.path)/root.key") == true, "\(found)")
    #expect(found["key"]?.first?.contains("permissions alone protect both") == true, "\(found)")
    #expect(try desk.sdkctl(["backup", "one"]).status == 0)
    #expect(try desk.sdkctl(["backup", "list"]).output.contains("one "))
    let stranger = try desk.calls(uid: 65534, "daemon.info", [:])
    #expect(stranger.first?["result"]?["pid"] != nil && stranger.first?["result"]?["paths"] == nil, "\(stranger)")
  }

  @Test func whatIsBrokenIsFound() throws {
    let desk = try Desk.open()
    let line = try desk.connect()
    let provider = try desk.provider("exit 1")
    try desk.create("desk", on: line, settings: ["base_url": "http://127.0.0.1:9/zm"], provider: provider)
    let path = provider["command"]?.arrayValue?.first?.stringValue ?? "?"
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
    let run = try run(desk, ["doctor", "--timeout", "60s", "-o", "json"])
    #expect(run.status == 1)
    let found = try findings(run.output)
    #expect(found["vendor"]?.first?.hasPrefix("failing http://127.0.0.1:9 (desk) can't be reached") == true, "\(found)")
    #expect(found["provider"] == ["failing desk: \(path) can be written by others."])
    desk.stop()
    let stopped = try self.run(desk, ["doctor"])
    #expect(stopped.status == 1)
    #expect(stopped.output.contains("failing  socket") && stopped.output.contains("sdkd --socket \(desk.socket)"))
  }

  @Test("A rule that names an unknown user or group is no error, but create, update, reload and doctor say so")
  func unknownNamesInRules() throws {
    let desk = try Desk.open()
    try desk.create("other", on: try desk.connect(), access: ["use": ["user:root"]])
    #expect(try desk.sdkctl("update", "other", "--access-observe", "user:root").error == "")
    try desk.create("desk", on: try desk.connect(), access: ["use": ["user:root", "group:nosuchgroup"]])
    let update = try desk.sdkctl("update", "desk", "--access-control", "user:nosuchuser")
    #expect(update.status == 0)
    for name in ["group nosuchgroup", "user nosuchuser"] {
      #expect(
        update.error.contains("warning: desk: There is no \(name), so its rule matches no caller. → "),
        "\(update.error)")
    }
    let found = try findings(try run(desk, ["doctor", "--timeout", "60s", "-o", "json"]).output)
    #expect(
      found["rights"]?.dropFirst() == [
        "warning desk: There is no group nosuchgroup, so its rule matches no caller.",
        "warning desk: There is no user nosuchuser, so its rule matches no caller.",
      ])
    try desk.write(
      "instances.d/kiosk.toml",
      """
      id = "kiosk"
      kind = "zendesk.messaging"
      [settings]
      app_id = "\(Desk.app)"
      base_url = "\(try desk.vendor.messaging)"
      [provider]
      unit = "kiosk"
      [access]
      use = ["user:nosuchkiosk"]
      """)
    let reload = try desk.sdkctl(["reload"])
    #expect(reload.status == 0, "\(reload.error)")
    #expect(reload.error.contains("warning: kiosk: There is no user nosuchkiosk, "), "\(reload.error)")
    #expect(reload.error.contains("warning: kiosk: there is no socket at /"), "\(reload.error)")
    #expect(reload.error.contains("kiosk.sock. → systemctl enable --now sdkd-provider-kiosk.socket"))
    #expect(try desk.sdkctl(["reload"]).error == "", "nothing has changed")
  }

  @Test("A rule that names a unit unknown to systemd is no error, but update and doctor say so")
  func unknownUnitsInRules() throws {
    let desk = try Desk.open()
    let units = """
      #!/bin/sh
      while [ "$1" != -- ]; do shift; done
      shift
      for unit; do
        case $unit in kiosc.service) echo LoadState=not-found ;; *) echo LoadState=loaded ;; esac
        echo ActiveState=inactive
        echo
      done

      """
    try desk.write("bin/systemctl", units, mode: 0o755)
    let environment = ["PATH": "\(desk.folder.path)/bin:/usr/bin:/bin"]
    let rules: JSON = ["unit:kiosc.service+user:root", "unit:kiosk.service", "user-unit:other.service@root"]
    try desk.create("desk", on: try desk.connect(), access: ["use": rules])
    let sentence = "desk: systemd knows no unit kiosc.service, so a rule with it matches no caller now."
    let update = try desk.sdkctl(["update", "desk", "--access-observe", "uid:0"], environment: environment)
    #expect(update.status == 0 && update.error.contains("warning: \(sentence) → correct the rule ("), "\(update.error)")
    let doctor = try desk.sdkctl(["doctor", "--timeout", "60s", "-o", "json"], environment: environment)
    let found = try findings(doctor.output)
    #expect(found["rights"]?.dropFirst() == ["warning \(sentence)"], "\(found)")
  }

  @Test(
    "The doctor of a user without rights makes no call that is refused",
    .enabled(if: getuid() == 0, "needs root to start processes of other users"))
  func doctorIsNotRefused() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect(), access: ["use": ["uid:1001"]])
    let run = try desk.sdkctl(
      ["doctor", "--timeout", "60s", "-o", "json"],
      before: ["/usr/bin/setpriv", "--reuid=1001", "--regid=1001", "--clear-groups"])
    #expect(try findings(run.output)["rights"]?.first?.hasSuffix("has use on desk.") == true, "\(run.output)")
    #expect(desk.stop() == 0)
    #expect(!desk.logs.contains("record=refusal"), "\(desk.logs)")
  }

  @Test func theConfigurationIsCheckedByTheDaemonsOwnProgram() throws {
    let desk = try Desk()
    let file = try desk.write("sdkd.toml", "[bridge]\nalow = 1\n[limits]\nconnections = 0\n")
    let bad = try run(desk, ["config", "check", file.path, "-o", "json"])
    #expect(bad.status == 78)
    let mistakes = try JSONParser.parse(bad.output)["mistakes"]?.arrayValue ?? []
    #expect(mistakes.map { $0["line"] } == [2, 4])
    #expect(mistakes.first?["message"]?.stringValue?.contains("did you mean allow?") == true)
    #expect(try run(desk, ["config", "check"]).status == 2)
    _ = try desk.write("sdkd.toml", "[limits]\nconnections = 5\n")
    let missing = try desk.sdkctl(
      ["config", "check", "--user"], environment: ["XDG_CONFIG_HOME": "\(desk.folder.path)/none"])
    #expect(missing.status == 0, "\(missing.error)")
    #expect(
      missing.output.hasPrefix("There is no \(desk.folder.path)/none/sdkd/sdkd.toml; everything has its default.\n"))
    let good = try run(desk, ["config", "check", file.path])
    #expect(good.status == 0 && good.output.contains("no mistakes") && good.error.isEmpty)
  }
}
