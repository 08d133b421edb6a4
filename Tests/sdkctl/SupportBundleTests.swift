import Foundation
import Glibc
import JSONRPC
import Testing

@testable import sdkctl

/// The parts of a support bundle.
@Suite struct SupportBundleTests {
  // MARK: Users

  static let users: [(text: String, masked: String)] = [
    ("alice is unknown", "‹user› is unknown"), ("no user alice.", "no user ‹user›."), ("\"alice\"", "\"‹user›\""),
    ("malice, alices and alice2", "malice, alices and alice2"), ("alice-7 and alice", "‹user› and ‹user›"),
    ("GET /users/7/tickets, 17 of 7", "GET /users/‹user›/tickets, 17 of ‹user›"), ("Ünal Ünalan", "‹user› Ünalan"),
    ("<a@b.example>", "<‹user›>"), ("Anna Smith and Anna", "‹user› and Anna"), ("", ""), ("-x, --x", "-x, ‹user›"),
    ("„alice“ and Alice…", "„‹user›“ and ‹user›…"), ("GET /users?email=a%40B.example&x", "GET /users?email=‹user›&x"),
    ("/anna%20Smith/%c3%9Cnal", "/‹user›/‹user›"),
  ]

  @Test("Users are found as whole words", arguments: users.indices)
  func usersAreMasked(index: Int) {
    let instances: [JSON] = [
      ["user": ["externalId": "alice", "id": "7", "email": "a@b.example", "authenticationType": "jwt"]],
      ["user": ["name": "Anna Smith"], "services": ["cases": ["user": ["externalId": "alice-7"]]]],
    ]
    let mask = BundleMask(instances: instances, ids: ["Ünal", "", "--x"])
    #expect(mask.masked(Self.users[index].text) == Self.users[index].masked)
  }

  @Test("Values keep their form, and only texts in them are masked")
  func valuesAreMasked() {
    let mask = BundleMask(instances: [["user": ["id": "7"]]])
    #expect(
      mask.masked(["7": ["7", 7, true, nil], "a": ["b": "x 7"]]) == [
        "7": ["‹user›", 7, true, nil], "a": ["b": "x ‹user›"],
      ])
    #expect(BundleMask(instances: []).masked(JSON.string("7")) == JSON.string("7"))
  }

  @Test("Many users and a long text take a moment")
  func manyUsers() {
    let mask = BundleMask(instances: (0..<20_000).map { ["user": ["externalId": .string("user-\($0)")]] })
    let text = String(repeating: "user-x and user-19999 ", count: 10_000)
    #expect(mask.masked(text) == String(repeating: "user-x and ‹user› ", count: 10_000))
  }

  // MARK: Units

  @Test("Secrets in unit files are masked, and what a maintainer needs is shown")
  func unitFiles() {
    let text = #"""
      # /lib/systemd/system/sdkd.service
      # planted comment
      # /planted
      [Service]
      ExecStart=/usr/bin/sdkd --config /etc/sdkd/sdkd.toml
      ExecReload=-/usr/bin/sdkctl reload \
          --system
      LoadCredentialEncrypted=sdkd.key:/etc/credstore.encrypted/sdkd.key

      # /etc/systemd/system/sdkd.service.d/local.conf
      ; planted
      Environment=A=planted "B=planted" \
      # planted
        C=planted \
        D=planted
      LimitNOFILE=64
      SetCredential=proxy:planted
      SetCredentialEncrypted=proxy: \
        planted
      X-Note=planted
      planted
      Environment=
      # /etc/systemd/system/sdkd-provider-desk@.service
      ExecStart=/usr/libexec/sdkd-provider /usr/libexec/token planted --planted \
        planted
      ExecStartPre=/usr/bin/env TOKEN=planted /usr/bin/sdkd
      ExecStop=/usr/libexec/stop
      ExecStartPost=/usr/bin/sdkctl login desk --token planted
      StandardInputText=planted
      """# + "\nLimitNPROC=64\r\nEnvironment=A=planted\rPassEnvironment=planted"
    #expect(
      UnitFileText.masked(text) == #"""
        # /lib/systemd/system/sdkd.service
        [Service]
        ExecStart=/usr/bin/sdkd --config /etc/sdkd/sdkd.toml
        ExecReload=-/usr/bin/sdkctl reload \
        --system
        LoadCredentialEncrypted=sdkd.key:/etc/credstore.encrypted/sdkd.key

        # /etc/systemd/system/sdkd.service.d/local.conf
        Environment=‹masked›
        LimitNOFILE=64
        SetCredential=‹masked›
        SetCredentialEncrypted=‹masked›
        ‹masked›
        ‹masked›
        Environment=
        # /etc/systemd/system/sdkd-provider-desk@.service
        ExecStart=/usr/libexec/sdkd-provider /usr/libexec/token ‹masked›
        ExecStartPre=/usr/bin/env ‹masked›
        ExecStop=/usr/libexec/stop
        ExecStartPost=/usr/bin/sdkctl ‹masked›
        StandardInputText=‹masked›
        LimitNPROC=64
        Environment=‹masked›
        PassEnvironment=‹masked›
        """#)
  }

  // MARK: Journal

  @Test("The journal is shown without users, secrets and what providers write")
  func journal() {
    let lines = [
      #"{"__REALTIME_TIMESTAMP":"1764200000123456","PRIORITY":"5","MESSAGE":"desk: userLoggedIn.","SDKD_INSTANCE":"desk","SDKD_USER":"planted","SDKD_RECORD":"identity","SDKD_EVENT":"userLoggedIn","SDKD_RULES":"planted","_EXE":"/usr/bin/sdkd"}"#,
      #"{"PRIORITY":"5","MESSAGE":"planted","SDKD_INSTANCE":"desk","SDKD_PROVIDER_OUTPUT":"1","_EXE":"/usr/bin/sdkd"}"#,
      #"{"PRIORITY":"5","MESSAGE":"planted","_EXE":"/usr/bin/logger","SYSLOG_IDENTIFIER":"sdkd"}"#,
      #"{"PRIORITY":"5","MESSAGE":"planted"}"#,
      #"{"PRIORITY":"4","MESSAGE":"The vendor knows no planted; token=abc. \u001b[2J","SDKD_REASON":"network","_EXE":"/usr/bin/sdkd"}"#,
      #"{"PRIORITY":"6","MESSAGE":"Started sdkd.service.","UNIT":"sdkd.service","_PID":"1"}"#, "planted",
      "-- Boot 1 --",
      #"{"MESSAGE":[112,108],"SDKD_USER":["a","b"],"_PID":"1"}"#,
    ]
    let journal = BundleJournal(lines.joined(separator: "\n"))
    let text = journal.text(BundleMask(instances: [], ids: journal.users))
    #expect(
      text.split(separator: "\n").map(String.init) == [
        "2025-11-26T23:33:20.123Z  notice  desk  desk: userLoggedIn.  SDKD_RECORD=identity SDKD_EVENT=userLoggedIn",
        "-  warning  -  The vendor knows no ‹user›; token=‹masked› \u{1B}[2J  SDKD_REASON=network",
        "-  info  -  Started sdkd.service.  UNIT=sdkd.service", "-  info  -  ",
        "Lines of token providers and other programs, which are left out: 3.", "Lines that could not be read: 1.",
      ])
  }

  // MARK: Instances

  @Test("Of an instance its state is shown, and neither users nor labels nor values of settings")
  func instances() {
    let instance: JSON = [
      "instance": "desk", "kind": "salesforce.chat", "source": "file", "state": "authenticated",
      "user": ["externalId": "planted"], "labels": ["planted": "planted"],
      "services": [
        "cases": ["state": "reauthNeeded", "user": ["id": "planted"], "expiresAt": "2026-01-02T03:04:05.000Z"]
      ],
      "settings": ["client_id": "planted"], "provider": ["command": ["/usr/libexec/token", "planted"]],
      "bridge": ["state": "open", "attached": 0], "access": ["use": ["user:planted", "*"]],
      "lastError": ["reason": "network", "message": "planted", "at": "2026-01-02T03:04:05.000Z"],
      "storageEpoch": "planted",
    ]
    let text = JSONWriter.text(of: BundleSources.summary(of: instance))
    #expect(!text.contains("planted"), "\(text)")
    for part in [
      #""services":{"cases":{"state":"reauthNeeded","expiresAt":"2026-01-02T03:04:05.000Z"}}"#,
      #""lastError":{"reason":"network","at":"2026-01-02T03:04:05.000Z"}"#, #""settings":["client_id"]"#,
      #""provider":"/usr/libexec/token""#, #""accessRules":{"use":2}"#, #""bridge":{"state":"open","attached":0}"#,
    ] { #expect(text.contains(part), "\(part): \(text)") }
    #expect(BundleSources.summary(of: ["provider": ["unit": "desk"]])["provider"] == "unit:desk")
    #expect(
      BundleSources.summary(of: ["provider": ["shell": true, "command": ["x planted"]]])["provider"]
        == "a shell command")
  }

  // MARK: Sections and the file

  @Test("A section that is too long is cut at a line, at its beginning or its end")
  func longSections() {
    let lines = (0..<60_000).map { "line \($0)" }.joined(separator: "\n")
    let first = BundleSection("a", from: "b", lines)
    let last = BundleSection("a", from: "b", lines, keeping: .end)
    #expect(first.text.hasPrefix("===== a: b\nline 0\n") && last.text.contains("\nline 59999\nToo long: "))
    for section in [first, last] {
      #expect((section.size ?? 0) > BundleSection.limit - 100 && (section.size ?? 0) <= BundleSection.limit)
      #expect(section.text.hasSuffix(" bytes more are left out.\n"))
      #expect(section.json["omittedBytes"]?.intValue == lines.utf8.count - (section.size ?? 0))
    }
    let one = BundleSection("a", from: "b", String(repeating: "x", count: BundleSection.limit + 1))
    #expect(one.size == 0)
  }

  @Test("A section that can't be gathered has the cause, and control characters are escaped")
  func missingSections() async {
    let section = await BundleSection("a", from: "b") { throw BundleMachine.failure("It is\u{1B}[2J gone.") }
    #expect(section.text == "===== a: b\nNot gathered: It is\\u001b[2J gone.\n")
    #expect(section.json["missing"] == "It is\u{1B}[2J gone.")
    let late = await BundleSection("a", from: "b") { try BundleMachine.output(of: ["/nonexistent/program"]) }
    #expect(late.text.contains("Not gathered: /nonexistent/program can't be run: "))
  }

  @Test("The file is new, and only its owner can read it")
  func theFile() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bundle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let bundle = SupportBundle(sections: [BundleSection("a", from: "b", "c")], knowsUsers: true)
    let (file, link) = (folder.appendingPathComponent("file").path, folder.appendingPathComponent("link").path)
    try SupportBundle.checkAbsence(of: file)
    try bundle.write(to: file)
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix("===== a: b\nc\n"))
    #expect(symlink(folder.appendingPathComponent("other").path, link) == 0)
    for path in [file, link, folder.path] {
      #expect(throws: CommandFailure.self) { try bundle.write(to: path) }
      #expect(throws: CommandFailure.self) { try SupportBundle.checkAbsence(of: path) }
    }
    #expect(throws: CommandFailure.self) { try bundle.write(to: folder.path + "/none/file") }
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix("===== a: b\nc\n"))
  }
}
