import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl doctor --bundle` with the real daemon and vendor. Each secret and each id of a user has `planted` in it.
@Suite struct SupportBundleTests {
  /// A desk whose daemon has planted secrets and users everywhere, and writes its journal to a socket.
  private struct Planted {
    let desk: Desk
    let journal: Datagrams
    let token: String

    init() throws {
      desk = try Desk()
      let desk = desk
      let socket = desk.folder.appendingPathComponent("journal").path
      journal = try Datagrams(socket)
      try desk.write("sdkd.toml", "[limits]\nconnections = 77\n")
      let file = try desk.write("secret", "planted-file-secret", mode: 0o600)
      for (id, secret) in [("inline", "\"planted-client-secret\""), ("filed", "{ file = \"\(file.path)\" }")] {
        try desk.write(
          "instances.d/\(id).toml",
          """
          id = "\(id)"
          kind = "salesforce.chat"
          [labels]
          planted = "planted-label"
          [settings]
          client_id = "planted-client"
          client_secret = \(secret)
          login_url = "\(try desk.vendor.base("sf"))"
          services = ["cases"]
          """, mode: 0o600)
      }
      try desk.start(environment: ["SDKD_JOURNAL_SOCKET": socket], waits: false)
      try eventually("the daemon answers", within: 60) { (try? desk.connect()) != nil }
      let line = try desk.connect()
      let provider = try desk.provider(
        "echo 'planted error of the provider' >&2; echo '\"planted-answer\"'; exit 3")
      let command = (provider["command"]?.arrayValue ?? []) + ["planted-argument"]
      try desk.create(
        "desk", on: line, settings: BridgeDesk.lazy,
        provider: ["command": .array(command), "environment": ["PLANTED": "planted-environment"]])
      token = try Vendor.mint("planted-alice", ttl: 3600, ["--name", "Planted planted-name"])
      try line.call("messaging.loginUser", ["instance": "desk", "jwt": .string(token)])
      try line.call("storage.put", ["instance": "desk", "key": "planted-key", "value": "planted-value"])
      try line.call("token.get", ["instance": "desk"])
      _ = try line.failure("token.refresh", ["instance": "desk"])
      try eventually("the provider's output is in the journal") {
        journal.received.contains { $0.contains("MESSAGE=planted error of the provider\n") }
      }
    }

    /// The entries of the journal as `journalctl -o json` prints them.
    var entries: String {
      journal.received.map { datagram in
        let fields = datagram.split(separator: "\n").compactMap { line -> (String, JSON)? in
          line.firstIndex(of: "=").map { (String(line[..<$0]), JSON.string(String(line[line.index(after: $0)...]))) }
        }
        return JSONWriter.text(of: .object(JSONObject(fields + [("_EXE", "/usr/bin/sdkd")]))) + "\n"
      }.joined()
    }
  }

  private static let names = [
    "bundle", "versions", "machine", "doctor", "daemon", "health", "instances", "metrics", "configuration", "units",
    "unit files", "limits", "state", "journal", "provider units",
  ]

  /// Expects that a text has no planted secret, and not the token or the root key in any form.
  private func expectNoSecret(in text: String, _ planted: Planted) throws {
    let lines = text.split(separator: "\n").filter { $0.lowercased().contains("planted") }
    #expect(lines.isEmpty, "\(lines)")
    let key = try Data(contentsOf: planted.desk.state.appendingPathComponent("root.key"))
    let hex = key.map { String(format: "%02x", $0) }.joined()
    for secret in [planted.token, key.base64EncodedString(), hex] {
      #expect(!text.lowercased().contains(secret.lowercased()))
    }
  }

  @Test(
    "A bundle has what a maintainer needs, and no secret and no user",
    .enabled(if: getuid() == 0, "needs root to mount"))
  func bundle() throws {
    let planted = try Planted()
    let desk = planted.desk
    let units = """
      # /lib/systemd/system/sdkd.service
      [Service]
      ExecStart=/usr/bin/sdkd
      # /etc/systemd/system/sdkd.service.d/local.conf
      [Service]
      # planted
      Environment=TOKEN=planted
      LimitNOFILE=64

      """
    try desk.write("units", units)
    try desk.write(
      "properties", "LoadState=loaded\nActiveState=active\nSubState=running\nNRestarts=3\nUnitFileState=enabled\n")
    try desk.write("entries", planted.entries)
    #expect(planted.entries.contains("planted"))
    let systemctl = """
      case "$*" in
      *--version*) echo 'systemd 252' ;;
      *cat*) cat units ;;
      *.service*.socket*) cat properties && echo && cat properties ;;
      *) cat properties ;;
      esac
      """
    for (name, script) in [("systemctl", systemctl), ("journalctl", "exec cat entries"), ("uname", "exec sleep 600")] {
      try desk.write("bin/\(name)", "#!/bin/sh\ncd '\(desk.folder.path)'\n\(script)\n", mode: 0o755)
    }
    let mounts = """
      mount -t tmpfs tmpfs /run && mkdir /run/sdkd && touch /run/sdkd/sdkd.sock
      mount --bind '\(desk.socket)' /run/sdkd/sdkd.sock && exec "$@"
      """
    func doctor(_ words: String...) throws -> Desk.CommandRun {
      try desk.sdkctl(
        ["doctor", "--system"] + words,
        environment: ["PATH": "\(desk.folder.path)/bin:/usr/bin:/bin", "SDKD_SOCKET": ""],
        before: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", mounts, "sh"])
    }
    let file = desk.folder.appendingPathComponent("report.txt")
    let run = try doctor("--bundle", file.path)
    #expect(run.status == 0, "\(run.error)")
    for name in Self.names { #expect(run.output.contains("\n\(name) "), "\(name): \(run.output)") }
    #expect(run.error.contains("It holds no token") && run.error.contains("Written to \(file.path)"), "\(run.error)")
    let text = try String(contentsOf: file, encoding: .utf8)
    try expectNoSecret(in: text + run.output + run.error, planted)
    var status = stat()
    #expect(stat(file.path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    for part in [
      "sdkd: ", "kernel: not known: uname can't be run: it took too long", "systemd: systemd 252", "loadavg: ",
      "ok       unit", "sdkd_build_info", #"{"key":"limits.connections","value":77,"#,
      "\"restartCount\": 0", "\"name\": \"store\"",
      #"{"instance":"desk","kind":"zendesk.messaging","source":"api","state":"authenticated""#, "NRestarts=3",
      "LimitNOFILE=64", "Environment=‹masked›", "Max open files", "state.db", "root.key", "SDKD_EVENT=userLoggedIn",
      "SDKD_EXIT=3", "Lines of token providers and other programs, which are left out: ",
      "Not gathered: No instance that is known has a provider with a unit.",
    ] { #expect(text.contains(part), "\(part): \(text)") }

    let again = try doctor("--bundle", file.path)
    #expect(again.status == 1 && again.error.contains("exists already"), "\(again.error)")
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }

  @Test("A bundle of a daemon without units, without an answer, or of a user without rights says what is missing")
  func missing() throws {
    let planted = try Planted()
    let desk = planted.desk
    let printed = try desk.sdkctl(["doctor", "--bundle", "-"])
    #expect(printed.status == 0 && printed.output.contains("===== journal: "), "\(printed.error)")
    #expect(printed.output.contains("Not gathered: The daemon was started by hand: its log is its standard error."))
    try expectNoSecret(in: printed.output, planted)

    if getuid() == 0 {
      let stranger = try desk.sdkctl(
        ["doctor", "--bundle", "-"], before: ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
      #expect(stranger.output.contains("===== metrics: daemon.metrics\nNot gathered: "), "\(stranger.output)")
      #expect(stranger.output.contains("Not gathered: Only an admin is told where the daemon keeps its state."))
      try expectNoSecret(in: stranger.output, planted)
    }

    #expect(desk.stop() == 0)
    let file = desk.folder.appendingPathComponent("report.json").path
    let stopped = try desk.sdkctl(["doctor", "--bundle", file, "-o", "json"])
    #expect(stopped.status == 0, "\(stopped.error)")
    let sections = try JSONParser.parse(stopped.output).arrayValue ?? []
    #expect(sections.compactMap { $0["section"]?.stringValue } == Self.names)
    let health = sections.first { $0["section"] == "health" }
    #expect(health?["missing"]?.stringValue?.contains(desk.socket) == true, "\(stopped.output)")
    try expectNoSecret(in: try String(contentsOfFile: file, encoding: .utf8), planted)
  }
}
