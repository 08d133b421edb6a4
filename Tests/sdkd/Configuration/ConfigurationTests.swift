import DelegateBridge
import JSONRPCTransport
import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore
import Testing

@testable import sdkd

struct ConfigurationTests {
  private static func paths(isUserDaemon: Bool = false, uid: UInt32) -> DaemonPaths {
    DaemonPaths(config: "/c", state: "/s", socket: "/k", isUserDaemon: isUserDaemon, uid: uid)
  }

  @Test func `Who may set a command follows from whose daemon it is`() {
    var configuration = Configuration()
    #expect(configuration.commands(Self.paths(isUserDaemon: true, uid: 1000)) == .admins)
    #expect(configuration.commands(Self.paths(uid: 0)) == .root)
    #expect(configuration.commands(Self.paths(uid: 998)) == .nobody)
    #expect(!configuration.bridge(Self.paths(uid: 998)).commands)
    #expect(configuration.bridge(Self.paths(uid: 0)).commands)
    configuration.bridge.sameUid = true
    #expect(configuration.commands(Self.paths(uid: 998)) == .admins)
    #expect(configuration.bridge(Self.paths(uid: 998)).commands)
  }

  @Test func `Without a file everything has its default`() throws {
    let files = try TemporaryConfiguration()
    let loaded = files.load()
    #expect(loaded.mistakes.isEmpty)
    #expect(loaded.configuration == Configuration())
    #expect(loaded.instances.isEmpty)
    #expect(loaded.failure == nil)
  }

  @Test func `A file that sets everything is read as it says`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.main, Self.full)
    let loaded = files.load()
    #expect(loaded.lines == [])
    let read = loaded.configuration
    #expect(read.access.admins.map(\.text) == ["group:sdkd-admin", "unit:kiosk.service+user:kiosk"])
    #expect(read.access.create.map(\.prefix) == ["support-", ""])
    #expect(read.access.create.map(\.who.text) == ["group:support", "*"])
    #expect(read.access.create.map(\.max) == [5, 1])
    #expect(read.bridge(Self.paths(uid: 0)).allow == ["/usr/libexec/sdkd"])
    #expect(read.bridge.sameUid)
    #expect(read.bridge.slots == SlotLimits(concurrent: 8, running: 16))
    #expect(read.limits.transport.maxFrameBytes == 2 << 20)
    #expect(read.limits.transport.maxOutboundBytes == 1_000_000)
    #expect(read.limits.transport.frameTimeout == .seconds(5))
    #expect(read.limits.transport.writeTimeout == .seconds(90))
    #expect(read.limits.transport.maxInFlight == 10)
    #expect(read.limits.published["callsPerSecond"] == 50)
    #expect(read.limits.published["callBurst"] == 100)
    #expect(read.limits.connections.user.callsPerSecond == 50)
    #expect(read.limits.connections.user.maxInFlight == 20)
    #expect(read.limits.connections.user.maxBufferedBytes == 2 << 20)
    #expect([read.limits.connections.perUser, read.limits.connections.total] == [7, 9])
    #expect([read.limits.subscriptions.perConnection, read.limits.instances.perUser] == [0, 3])
    #expect(read.events.retention == EventRetention(maxAge: 2 * 86_400, maxCountPerInstance: 10))
    #expect(read.network.allow == ["zendesk.com", "10.1.2.3"])
    #expect(read.metrics.listen == .loopback(address: "::1", port: 9464))
    #expect(read.shutdown.grace == .seconds(2.5))
    #expect(read.backup == BackupSettings(every: .seconds(43_200), keep: 7))
    #expect(read.log.level == .warning)
    let names = ResolvedNames { _ in }
    #expect(read.access(Self.paths(isUserDaemon: true, uid: 4), names: names).ownUid == 4)
  }

  @Test func `The default text says the defaults, and names every key`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.main, Configuration.defaultText)
    #expect(files.load().lines == [])
    #expect(files.load().configuration == Configuration())
    let text = Configuration.defaultText.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix("#") && !line.hasPrefix("# ") ? String(line.dropFirst()) : String(line)
    }
    // The file and the credential that these keys name must exist, so the test leaves the keys out.
    let named = ["ca_file =", "proxy_credentials ="]
    let rest = text.filter { line in !named.contains { line.hasPrefix($0) } }
    try files.write(files.main, rest.joined(separator: "\n"))
    let loaded = files.load()
    #expect(loaded.lines == [])
    var read = loaded.configuration
    #expect(read.access.create.count == 1 && read.network.allow?.count == 2 && read.metrics.listen != nil)
    #expect(read.bridge.allow.count == 1 && read.bridge.unitSockets != nil)
    (read.access.create, read.network.allow, read.metrics.listen, read.bridge.allow) = ([], nil, nil, [])
    #expect(read.network.options.exceptions.entries.count == 2)
    (read.bridge.unitSockets, read.network.options.exceptions) = (nil, .init())
    #expect(read == Configuration())
    for table in Configuration.tables {
      for setting in table.settings {
        #expect(text.contains { $0.hasPrefix("\(setting.name) = ") || $0 == "[[\(table.name).\(setting.name)]]" })
      }
    }
  }

  @Test func `A total grows with the share of one user, unless it is set`() throws {
    let files = try TemporaryConfiguration()
    try files.write(
      files.main,
      "[limits]\nbuffered_bytes_per_uid = \"512MiB\"\ncalls_per_second = 10000\nsubscriptions_per_uid = 9000\n")
    let loaded = files.load()
    #expect(loaded.lines == [])
    let limits = loaded.configuration.limits
    #expect(limits.connections.common.maxBufferedBytes == 512 << 20)
    #expect(limits.connections.common.messagesPerSecond == 40_000)
    #expect(limits.subscriptions.total == 9000)
  }

  @Test func `With a mistake callers are told, without the file's name`() throws {
    let files = try TemporaryConfiguration()
    try files.write(files.main, "[log]\nlevel = \"loud\"\n")
    let loaded = files.load()
    #expect(loaded.failure?.message.contains(files.directory) == false)
    #expect(
      loaded.mistakes.map(\.description) == [
        "\(files.main):2: log.level: This must be one of trace, debug, info, notice, warning, error, critical."
      ])
    // The unreadable file may configure more retention than the defaults, so no events or backups are deleted.
    #expect(loaded.configuration.events.retention.maxCountPerInstance == 1_000_000_000)
    #expect(loaded.configuration.backup.every == .zero)
  }

  private static let full = """
    [access]
    admins = ["group:sdkd-admin", "unit:kiosk.service+user:kiosk"]
    [[access.create]]
    who = "group:support"
    prefix = "support-"
    max = 5
    [[access.create]]
    who = "*"
    prefix = ""
    max = 1
    [bridge]
    allow = ["/usr/libexec/sdkd"]
    same_uid = true
    max_concurrent = 8
    max_running = 16
    [limits]
    max_frame_bytes = "2MiB"
    max_outbound_bytes = 1_000_000
    frame_timeout = 5
    write_timeout = "1.5m"
    max_in_flight = 10
    max_in_flight_per_uid = 20
    buffered_bytes_per_uid = "2MiB"
    connections = 7
    total_connections = 9
    total_buffered_bytes = "3MiB"
    subscriptions = 0
    total_subscriptions = 300
    calls_per_second = 50
    total_messages_per_second = 1000
    instances = 3
    [events]
    retention = { age = "2d", count = 10 }
    [network]
    allow = ["zendesk.com", "10.1.2.3"]
    [metrics]
    listen = "[::1]:9464"
    [shutdown]
    grace = 2.5
    [backup]
    every = "12h"
    keep = 7
    [log]
    level = "warning"
    """
}
