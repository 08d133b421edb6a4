import Glibc
import JSONRPC
import SDKInstances
import SDKProtocol
import Testing

@testable import sdkd

/// The files of `sdkd.toml.d`, merged over the main file.
struct DropInTests {
  /// Merges texts in this order. The log of the file N is named N.
  private func merged(_ texts: [String]) throws -> (settings: MergedSettings, logs: [MistakeLog]) {
    var settings = MergedSettings()
    var logs: [MistakeLog] = []
    for (number, text) in texts.enumerated() {
      let log = MistakeLog(file: "\(number)")
      let document = try TOMLDocument(bytes: Array(text.utf8))
      log.lines = document.lines
      settings.merge(document.root, log)
      logs.append(log)
    }
    return (settings, logs)
  }

  @Test(
    "Tables are merged by key, and a later value replaces a former one",
    arguments: [
      ([""], ""),
      (["[log]\nlevel = \"debug\"", ""], "[log]\nlevel = \"debug\""),
      (["", "[log]\nlevel = \"debug\""], "[log]\nlevel = \"debug\""),
      (["[log]\nlevel = \"debug\"", "log.level = \"error\""], "log = { level = \"error\" }"),
      (
        ["[limits]\nconnections = 5\ninstances = 6", "[limits]\ninstances = 7\nsubscriptions = 8", "[limits]"],
        "[limits]\nconnections = 5\ninstances = 7\nsubscriptions = 8"
      ),
      // Arrays are replaced, those of tables too: no rule stays in force that the last file does not show.
      (["[access]\nadmins = [\"uid:1\", \"uid:2\"]", "[access]\nadmins = [\"uid:3\"]"], "access.admins = [\"uid:3\"]"),
      (["[access]\nadmins = [\"uid:1\"]", "[access]\nadmins = []"], "access.admins = []"),
      (
        [
          "[[access.create]]\nwho = \"*\"\nprefix = \"a\"\nmax = 1\n[[access.create]]\nwho = \"*\"\nprefix = \"b\"\nmax = 2",
          "[[access.create]]\nwho = \"uid:3\"\nprefix = \"c\"\nmax = 3",
        ], "[[access.create]]\nwho = \"uid:3\"\nprefix = \"c\"\nmax = 3"
      ),
      (
        ["[events]\nretention = { age = \"1d\", count = 5 }", "[events.retention]\ncount = 6"],
        "[events.retention]\nage = \"1d\"\ncount = 6"
      ),
      // A reference to a secret is one value.
      (
        ["[network]\nproxy_credentials = { credential = \"a\" }", "[network]\nproxy_credentials = { file = \"/b\" }"],
        "[network]\nproxy_credentials = { file = \"/b\" }"
      ),
    ] as [([String], String)])
  func merges(texts: [String], expected: String) throws {
    let (settings, logs) = try merged(texts)
    let whole = try TOMLDocument(bytes: Array(expected.utf8)).root
    #expect(settings.root == whole)
    #expect(logs.allSatisfy { $0.isEmpty })
  }

  @Test(
    "A mistake is in the file and on the line that it comes from",
    arguments: [
      (["[limits]\nconnections = 5", "\n[limits]\ninstances = \"x\""], ["1:3: limits.instances"]),
      (["[limits]\ninstances = \"x\"", "\n[limits]\ninstances = 5"], ["0:2: limits.instances"]),
      (["[log]\nlevl = 1", "log = 1", "[lgo]"], ["0:2: log.levl", "1:1: log", "2:1: lgo"]),
      (["[shutdown]\ngrace = 1", "[shutdown]\n\ngrace = \"1h\""], ["1:3: shutdown.grace"]),
      (["[access]\nadmins = [\"uid:1\"]", "[access]\nadmins = [\n\"uid:1\",\n\"who\"]"], ["1:4: access.admins[1]"]),
      (
        ["[[access.create]]\nwho = \"*\"\nprefix = \"a\"\nmax = 1", "[[access.create]]\nwho = \"*\"\nmax = 1"],
        ["1:1: access.create[0].prefix"]
      ),
      (["[events]\nretention = { age = \"1d\" }", "[events.retention]\ncuont = 1"], ["1:2: events.retention.cuont"]),
      (["[events]\nretention = 1", "[events]\nretention = { count = 5 }"], ["0:2: events.retention"]),
      (
        [
          "[events]\nretention = { age = \"1d\" }", "\n[events.retention]\nage = \"4000d\"",
          "events.retention.count = 1",
        ],
        ["1:3: events.retention.age"]
      ),
      // A mistake about two keys is in the later file, and in one file at the whole.
      (
        ["[limits]\nmax_in_flight_per_uid = 100", "[limits]\nmax_in_flight = 200"], ["1:2: limits.max_in_flight"]
      ),
      (
        ["[limits]\nmax_in_flight = 2000", "\n[limits]\nmax_in_flight_per_uid = 1999"],
        ["1:3: limits.max_in_flight_per_uid"]
      ),
      (["[bridge]\nmax_running = 50", "[bridge]\nmax_concurrent = 60"], ["1:2: bridge.max_concurrent"]),
      (["", "[bridge]\nmax_running = 50\nmax_concurrent = 60"], ["1:2: bridge.max_running"]),
      // Only the values that apply have to suit each other.
      (["[limits]\nmax_in_flight = 2000", "[limits]\nmax_in_flight_per_uid = 2000"], []),
      (
        ["[network]\nproxy = \"http://proxy.test:1\"", "[network]\nproxy_credentials = { file = \"/none\" }"],
        ["1:2: network.proxy_credentials.file"]
      ),
    ] as [([String], [String])])
  func mistakes(texts: [String], expected: [String]) throws {
    let (settings, logs) = try merged(texts)
    let values = MistakeLog(of: settings.origins, file: "values")
    _ = Configuration(reading: settings, values)
    let found = (logs + [values]).flatMap(\.sorted)
    #expect(found.map { "\($0.file):\($0.line ?? 0): \($0.key ?? "")" } == expected, "\(found)")
  }

  @Test("The settings that files set are shown with file and line, and without a password")
  func shown() throws {
    let (settings, _) = try merged([
      "[events]\nretention = { age = \"1d\", count = 5 }\n[network]\nproxy = \"http://me:hunter2@proxy.test:1\"",
      "\n[events.retention]\ncount = 6\n[access]\nadmins = [\"uid:1\"]",
    ])
    #expect(
      settings.shown == [
        ["key": "access.admins", "value": ["uid:1"], "file": "1", "line": 5],
        ["key": "events.retention.age", "value": "1d", "file": "0", "line": 2],
        ["key": "events.retention.count", "value": 6, "file": "1", "line": 3],
        ["key": "network.proxy", "file": "0", "line": 4],
      ])
  }

  @Test("Drop-ins are read in the byte order of their names, also without a main file")
  func order() throws {
    let files = try TemporaryConfiguration()
    for (name, count) in [("a", 4), ("B", 3), ("10", 1), ("9", 2), ("\u{E9}", 5)] {
      try files.write(files.dropIn(name), "[limits]\ninstances = \(count)\nconnections = \(count)")
    }
    for name in [".b.toml", "c.toml~", "d.toml.dpkg-new", "e"] { try files.write("\(files.main).d/\(name)", "?") }
    let loaded = files.load()
    #expect(loaded.mistakes.isEmpty)
    #expect(loaded.configuration.limits.instances.perUser == 5 && loaded.dropIns == 5)
    try files.write(files.main, "[limits]\nsubscriptions = 1\ninstances = 9")
    try files.write(files.dropIn("\u{E9}"), "")
    let limits = files.load().configuration.limits
    #expect(limits.instances.perUser == 4 && limits.subscriptions.perConnection == 1 && limits.connections.perUser == 4)
  }

  @Test("A drop-in that can't be used is a mistake, and so are too many")
  func unusable() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.dropIn("a"), String(repeating: "#", count: ConfigurationFiles.maximumBytes + 1))
    mkdir(files.dropIn("b"), 0o700)
    mkfifo(files.dropIn("c"), 0o600)
    symlink("nowhere", files.dropIn("d"))
    for name in ["b", "c", "d"] { files.adopt(files.dropIn(name)) }
    try files.write(files.dropIn("e"), "", mode: 0o602)
    try files.write(files.dropIn("f"), "\n[log")
    #expect(
      files.load().mistakes.map(\.description) == [
        "\(files.dropIn("a")): The file is larger than 1024 KiB.",
        "\(files.dropIn("b")): The file is no plain file.",
        "\(files.dropIn("c")): The file is no plain file.",
        "\(files.dropIn("d")): The file does not exist.",
        "\(files.dropIn("e")): The file can be written by everyone; take that away with chmod o-w.",
        "\(files.dropIn("f")):2: ] is expected after the name of the table.",
      ])
    for number in 0..<ConfigurationFiles.maximumDropIns { try files.write(files.dropIn("n\(number)"), "") }
    #expect(
      files.load().mistakes.map(\.description) == ["\(files.main).d: The directory has more than 64 files NAME.toml."])
  }

  @Test("A directory of files that everyone can write is refused", arguments: ["sdkd.toml.d", "instances.d"])
  func openDirectory(name: String) throws {
    let files = try TemporaryConfiguration()
    chmod("\(files.directory)/\(name)", 0o777)
    #expect(
      files.load().mistakes.map(\.description) == [
        "\(files.directory)/\(name): The directory can be written by everyone; take that away with chmod o-w."
      ])
  }
}
