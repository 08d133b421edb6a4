import JSONRPC
import JSONRPCTransport
import SDKInstances
import SDKProtocol

/// `[limits]`: for callers other than admins (sdkd-protocol(7)). A user is a uid with its subordinate uids. Callers without
/// any role have a quarter of each total together.
struct LimitSettings: SettingValues, Hashable {
  /// The limits of one connection.
  var transport = TransportLimits.standard
  /// The limits on connections, and on what all connections of a user, or of all users, take.
  var connections = ConnectionLimits()
  /// The limits on subscriptions.
  var subscriptions = SubscriptionLimits()
  /// The limits on instances.
  var instances = InstanceLimits()
}

extension LimitSettings {
  static let table = SettingTable<Self>(
    name: "limits", summary: "What callers other than admins may use.",
    settings: settings.map { $0.isLimit ? $0 : $0.limiting() }
  ) { reader, limits in
    limits.growTotals(reader)
    limits.checkTotals(reader)
  }

  private static let settings: [Setting<Self>] = [
    .bytes("max_frame_bytes", \.transport.maxFrameBytes, frameSizes, "The longest message."),
    .duration("frame_timeout", \.transport.frameTimeout, 1...3600, "How long a message may stay unfinished."),
    .integer(
      "max_in_flight", \.transport.maxInFlight, 1...65_536, "Requests of one connection that run at once."),
    .integer(
      "max_in_flight_per_uid", \.connections.user.maxInFlight, 1...1_000_000,
      "Requests of all connections of one user that run or wait. A user is a uid with its subordinate uids (subuid(5))."
    ),
    .bytes("max_outbound_bytes", \.transport.maxOutboundBytes, frameSizes, "What a client may leave unread."),
    .duration(
      "write_timeout", \.transport.writeTimeout, 1...3600, "How long it may then go on without reading."),
    .bytes(
      "buffered_bytes_per_uid", \.connections.user.maxBufferedBytes, bufferSizes,
      "What all connections of one user may have unfinished, waiting and unread; above that each connection may have 64 KiB."
    ),
    .bytes(
      "total_buffered_bytes", \.connections.common.maxBufferedBytes, bufferSizes,
      """
      The same of all users together. Callers without a role on any instance have a quarter of it, as of every total.
      """),
    .integer("connections", \.connections.perUser, 1...65_536, "Connections of one user."),
    .integer(
      "total_connections", \.connections.total, 1...65_536,
      "Connections of all users together, at most a quarter of the descriptors of the daemon: each takes two."
    ).limiting { Double($0.connectionsInForce.total) },
    .integer("subscriptions", \.subscriptions.perConnection, 0...65_536, "Subscriptions of one connection."),
    .integer(
      "subscriptions_per_uid", \.subscriptions.perUser, 0...1_000_000,
      "Subscriptions of all connections of one user."),
    .integer(
      "total_subscriptions", \.subscriptions.total, 0...1_000_000, "Subscriptions of all users together."),
    .integer(
      "calls_per_second", \.connections.user.callsPerSecond, 1...1_000_000,
      "Calls of one user in a second; after a rest twice as many at once."),
    .integer(
      "total_messages_per_second", \.connections.common.messagesPerSecond, 100...10_000_000,
      "Messages of all users in a second, refused ones included. Above that, users over their fair share are read slowly."
    ),
    .integer("instances", \.instances.perUser, 0...1_000_000, "Instances that one user may have."),
  ]

  private static let frameSizes = ByteCount.kibibytes(64)...ByteCount.kibibytes(256 << 10)
  private static let bufferSizes = ByteCount.kibibytes(1024)...ByteCount.kibibytes(16 << 20)
}

extension LimitSettings {
  /// The limits on connections and on each user, reduced to the descriptors of the process.
  var connectionsInForce: ConnectionLimits { connections.fitting(descriptors: ConnectionLimits.descriptors) }

  /// The limits in the form of `daemon.info`; sizes in bytes, durations in seconds.
  var published: [String: Double] {
    var published = ["callBurst": Double(connections.user.callBurst)]
    for setting in Self.settings { published[setting.member] = setting.number?(self) }
    return published
  }
}

extension Setting {
  /// The name of a limit in `daemon.info`, such as `maxInFlight` for `max_in_flight`.
  fileprivate var member: String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }
}

extension LimitSettings {
  /// Lets the totals that are not set grow with the share of one user, so that raising that needs no second setting.
  private mutating func growTotals(_ reader: ValueReader) {
    func grow(_ key: String, _ total: inout Int, _ share: Int) {
      let path = "limits.\(key)"
      if reader.json(at: path) == nil || reader.log.has(path) { total = max(total, share) }
    }
    grow("total_buffered_bytes", &connections.common.maxBufferedBytes, connections.user.maxBufferedBytes)
    grow("total_messages_per_second", &connections.common.messagesPerSecond, connections.user.messagesPerSecond)
    grow("total_subscriptions", &subscriptions.total, subscriptions.perUser)
  }

  /// Adds a mistake for each share that exceeds the whole.
  private func checkTotals(_ reader: ValueReader) {
    let pairs: [(part: (String, Int), whole: (String, Int))] = [
      (("max_in_flight", transport.maxInFlight), ("max_in_flight_per_uid", connections.user.maxInFlight)),
      (
        ("subscriptions", subscriptions.perConnection), ("subscriptions_per_uid", subscriptions.perUser)
      ),
      (("connections", connections.perUser), ("total_connections", connections.total)),
      (("subscriptions_per_uid", subscriptions.perUser), ("total_subscriptions", subscriptions.total)),
      (
        ("buffered_bytes_per_uid", connections.user.maxBufferedBytes),
        ("total_buffered_bytes", connections.common.maxBufferedBytes)
      ),
    ]
    for (part, whole) in pairs { reader.check(part, isWithin: whole, of: "limits") }
  }
}
