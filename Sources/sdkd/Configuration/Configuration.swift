import DelegateBridge
import JSONRPCTransport
import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore

/// The daemon's own configuration: `sdkd.toml` as values (sdkd(8)).
struct Configuration: Sendable, Hashable {
  /// `[backup]`.
  struct Backup: Sendable, Hashable {
    /// The time between two backups; 0 disables them.
    var every = Seconds(literal: 86_400)
    /// The number of backups that are kept.
    var keep = 3
  }

  /// `[access] admins`: the admins besides root.
  var admins: [AccessRule] = []
  /// `[[access.create]]`: the rules under which non-admins may create instances.
  var createRules: [AccessPolicy.CreateRule] = []
  /// `[bridge] allow`: the directories that providers must be in; an empty array allows every directory.
  var providerDirectories: [String] = []
  /// `[bridge] same_uid`: whether a provider may run as a child of a system daemon, with its uid.
  var sameUid = false
  /// `[bridge] unit_sockets`: the folder with the sockets of providers that are systemd units; `nil` for the daemon's
  /// own.
  var providerSockets: String?
  /// `[bridge] max_concurrent`, `max_running`.
  var providerSlots = SlotLimits()
  /// `[delegate] grace`: the seconds for which a lost delegate is waited for where no provider is configured.
  var delegateGrace = 30.0
  /// `[limits]`.
  var limits = Limits()
  /// `[events] retention`.
  var retention = EventRetention()
  /// `[network] allow`: the hosts and domains that instances may connect to; `nil` for the vendors' own.
  var networkAllow: [String]?
  /// `[network] proxy`, `proxy_credentials`, `proxy_exceptions`, `ca_file`.
  var network = NetworkOptions()
  /// `[metrics] listen`: the address of the metrics; `nil` serves them through the control socket only.
  var metricsListen: ListenAddress?
  /// `[shutdown] grace`: the seconds that requests in progress get at the end.
  var grace = 10.0
  /// `[backup]`.
  var backup = Backup()
  /// `[log] level`.
  var logLevel = Logger.Level.info
}

extension Configuration {
  /// Disables the deletion of stored data, and backups, which would delete older ones. The settings of both may be
  /// among those that could not be read.
  mutating func keepEverything() {
    retention = EventRetention(maxAge: 1e10, maxCountPerInstance: 1_000_000_000)
    backup.every = Seconds(literal: 0)
  }

  /// Returns the access policy of a daemon with these paths.
  func access(_ paths: DaemonPaths, names: any NameDirectory) -> AccessPolicy {
    AccessPolicy(
      admins: admins, create: createRules, ownUid: paths.isUserDaemon ? paths.uid : nil, hosts: networkAllow,
      commands: commands(paths), names: names)
  }

  /// Returns the callers that may have programs run as children of the daemon.
  func commands(_ paths: DaemonPaths) -> AccessPolicy.CommandSetters {
    if sameUid || paths.isUserDaemon { return .admins }
    return paths.isService ? .nobody : .root
  }

  /// Returns the settings of the bridge.
  func bridge(_ paths: DaemonPaths) -> BridgeOptions {
    BridgeOptions(
      allow: providerDirectories, commands: commands(paths) != .nobody,
      unitSockets: providerSockets ?? paths.unitSockets, limits: providerSlots)
  }

  /// The limits on subscriptions.
  var subscriptions: SubscriptionLimits {
    SubscriptionLimits(
      perConnection: limits.subscriptions, perUser: limits.subscriptionsPerUid, total: limits.totalSubscriptions)
  }

  /// The limits of one connection.
  var transport: TransportLimits {
    TransportLimits(
      maxFrameBytes: limits.maxFrameBytes.bytes, frameTimeout: limits.frameTimeout.duration,
      maxInFlight: limits.maxInFlight, maxOutboundBytes: limits.maxOutboundBytes.bytes,
      writeTimeout: limits.writeTimeout.duration)
  }

  /// The limits on connections and on each user, reduced to the descriptors of the process.
  var connections: ConnectionLimits {
    ConnectionLimits(
      perUser: limits.connections, total: limits.totalConnections,
      user: AllowanceLimits(
        callsPerSecond: limits.callsPerSecond, maxInFlight: limits.maxInFlightPerUid,
        maxBufferedBytes: limits.bufferedBytesPerUid.bytes),
      totalMessagesPerSecond: limits.totalMessagesPerSecond, totalBufferedBytes: limits.totalBufferedBytes.bytes
    ).fitting(descriptors: ConnectionLimits.descriptors)
  }
}
