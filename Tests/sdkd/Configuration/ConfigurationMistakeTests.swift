import Logging
import SDKProtocol
import Testing

@testable import sdkd

struct ConfigurationMistakeTests {
  private func lines(_ text: String) throws -> [String] {
    let files = try TemporaryConfiguration()
    try files.write(files.main, text)
    return files.load().lines
  }

  @Test(arguments: [
    ("[log]\nlevl = \"info\"", "2: log.levl: This key is not known; did you mean level?"),
    ("[limit]\n", "1: limit: This key is not known; did you mean limits?"),
    (
      "\n\nqqqqqqqqq = 1",
      "3: qqqqqqqqq: This key is not known; known are access, bridge, delegate, limits, events, network, metrics, "
        + "shutdown, backup, log."
    ),
    ("[bridge]\nmax_concurrent = 0", "2: bridge.max_concurrent: This must be a whole number from 1 to 4096."),
    ("[bridge]\nsame_uid = \"yes\"", "2: bridge.same_uid: This must be true or false."),
    (
      "[bridge]\nmax_running = 5",
      "2: bridge.max_running: max_running must be at least max_concurrent: it counts those too."
    ),
    ("bridge = 1", "1: bridge: This must be a table."),
    (
      "[bridge]\nallow = [\n  \"/a\",\n  # why\n  \"b\",\n]",
      "5: bridge.allow[1]: This must be an absolute path without \"..\"."
    ),
    ("[bridge]\nallow = [\"/a/../b\"]", "2: bridge.allow[0]: This must be an absolute path without \"..\"."),
    ("[shutdown]\ngrace = \"1h\"", "2: shutdown.grace: This must be at most 10m."),
    (
      "[shutdown]\ngrace = true", "2: shutdown.grace: This must be a number, or a string (duration, such as 10s or 5m)."
    ),
    (
      "[shutdown]\ngrace = \"10 s\"",
      "2: shutdown.grace: A duration is a number of seconds or text such as \"10s\" or \"5m\"."
    ),
    (
      "[shutdown]\ngrace = -1",
      "2: shutdown.grace: A duration is a number of seconds or text such as \"10s\" or \"5m\"."
    ),
    ("[limits]\nmax_frame_bytes = 10", "2: limits.max_frame_bytes: This must be from 64KiB to 256MiB."),
    ("[limits]\nframe_timeout = 0", "2: limits.frame_timeout: This must be from 1s to 1h."),
    ("[limits]\ninstances = 1.5", "2: limits.instances: This must be a whole number from 0 to 1000000."),
    (
      "[limits]\nconnections = 3000",
      "2: limits.connections: total_connections must be at least connections: it counts those too."
    ),
    (
      "[limits]\nmax_in_flight_per_uid = 9",
      "2: limits.max_in_flight_per_uid: max_in_flight_per_uid must be at least max_in_flight: it counts those too."
    ),
    (
      "[limits]\nbuffered_bytes_per_uid = \"1KiB\"",
      "2: limits.buffered_bytes_per_uid: This must be from 1MiB to 16GiB."
    ),
    (
      "[limits]\ntotal_buffered_bytes = \"16MiB\"",
      "2: limits.total_buffered_bytes: total_buffered_bytes must be at least buffered_bytes_per_uid: it counts those too."
    ),
    (
      "[limits]\ntotal_subscriptions = 255",
      "2: limits.total_subscriptions: total_subscriptions must be at least subscriptions_per_uid: it counts those too."
    ),
    (
      "[limits]\ntotal_messages_per_second = 99",
      "2: limits.total_messages_per_second: This must be a whole number from 100 to 10000000."
    ),
    ("[backup]\nevery = 5", "2: backup.every: This must be at least 1m, or 0 for no backups."),
    (
      "[network]\nallow = [\"https://a.b\"]",
      "2: network.allow[0]: This must be a host or domain such as example.com, without scheme, port and path."
    ),
    (
      "[metrics]\nlisten = \"9464\"",
      "2: metrics.listen: This must be HOST:PORT, such as 127.0.0.1:9464, or the absolute path of a socket."
    ),
    (
      "[events]\nretention = { age = \"7d\", cont = 4 }",
      "2: events.retention.cont: This key is not known; did you mean count?"
    ),
    (
      "[events.retention]\nage = 1\ncount = \"x\"",
      "3: events.retention.count: This must be a whole number from 0 to 1000000."
    ),
  ])
  func `A mistake has its line, its key and what to do`(text: String, expected: String) throws {
    #expect(try lines(text) == [expected])
  }

  @Test func `Rules are checked one by one, in every table of an array`() throws {
    let found = try lines(
      """
      [access]
      admins = ["user:a", "usr:b",
        "uid:x"]

      [[access.create]]
      who = "*"
      prefix = "a"
      max = 1

      [[access.create]]
      who = "nobody"
      prefx = "b"
      max = 0
      [[access.create]]
      prefix = "Ä"
      """)
    #expect(
      found.map { $0.prefix { $0 != "," && $0 != ";" } } == [
        "2: access.admins[1]: \"usr:b\" is no access rule", "3: access.admins[2]: \"uid:x\" is no access rule",
        "10: access.create[1].prefix: This key is missing",
        "11: access.create[1].who: \"nobody\" is no access rule",
        "12: access.create[1].prefx: This key is not known",
        "13: access.create[1].max: This must be a whole number of at least 1.",
        "14: access.create[2].who: This key is missing", "14: access.create[2].max: This key is missing",
        "15: access.create[2].prefix: No instance id begins with this",
      ])
    #expect(found[4].hasSuffix("did you mean prefix?"))
  }

  @Test func `Ten mistakes in one file are all said, by line`() throws {
    let files = try TemporaryConfiguration()
    try files.write(
      files.main,
      """
      colour = "red"
      [access]
      admins = ["x"]
      [bridge]
      allow = ["relative"]
      max_concurent = 3
      [limits]
      frame_timeout = "soon"
      instances = -1
      [network]
      allow = ["a b", 'ok.example', "c/d"]
      [log]
      level = "verbose"
      format = '''
      [not a table]
      key = 1
      '''
      [backup]
      keep = 0
      """)
    #expect(
      files.load().places == [
        "1 colour", "3 access.admins[0]", "5 bridge.allow[0]", "6 bridge.max_concurent", "8 limits.frame_timeout",
        "9 limits.instances", "11 network.allow[0]", "11 network.allow[2]", "13 log.level", "14 log.format",
        "19 backup.keep",
      ])
    #expect(files.load().mistakes[3].nearest == "max_concurrent")
  }

  @Test(arguments: [
    ("[log]\nlevel = \n", 2), ("[log]\nlevel = \"a\"\nlevel = \"b\"", 3), ("[log\n", 1), ("[log]\n[log]\n", 2),
    ("a = \"x\ny\"", 1), ("a = 99999999999999999999", 1), ("a = 1 b = 2", 1), ("=", 1), ("a.b = 1\na = 2", 2),
  ])
  func `Of mistakes of syntax there is one, with its line`(text: String, line: Int) throws {
    let files = try TemporaryConfiguration()
    try files.write(files.main, text)
    let found = files.load().mistakes
    #expect(found.count == 1)
    #expect(found.first?.line == line)
    #expect(found.first?.key == nil)
    #expect(found.first?.message.hasSuffix(".") == true)
  }

  @Test func `What can be read beside a mistake is read`() throws {
    let files = try TemporaryConfiguration()
    try files.write(
      files.main, "[access]\nadmins = [\"x\", \"user:a\"]\n[log]\nlevel = \"debug\"\n[shutdown]\ngrace=\"x\"")
    let read = files.load().configuration
    #expect(read.access.admins.map(\.text) == ["user:a"])
    #expect(read.log.level.rawValue == "debug")
    #expect(read.shutdown.grace == .seconds(10))
  }
}
