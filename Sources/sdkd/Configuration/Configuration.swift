import DelegateBridge
import JSONRPCTransport
import Logging
import SDKInstances
import SDKProtocol
import StateStore

/// The daemon's own configuration: `sdkd.toml` as values (`operations.md`, "Files").
struct Configuration: Sendable, Hashable {
  /// `[backup]`.
  struct Backup: Sendable, Hashable {
    /// The time between two copies; 0: none are made.
    var every = Seconds(literal: 86_400)
    /// How many are kept.
    var keep = 3
  }

  /// `[access] admins`: who is admin besides root.
  var admins: [AccessRule] = []
  /// `[[access.create]]`: who may create instances besides admins.
  var createRules: [AccessPolicy.CreateRule] = []
  /// `[bridge] allow`: directories that providers must lie in; none means everywhere.
  var providerDirectories: [String] = []
  /// `[bridge] same_uid`: whether a provider may run as a child of a system daemon, with its uid.
  var sameUid = false
  /// `[bridge] unit_sockets`: the folder with the sockets of providers that are systemd units; `nil`: the daemon's own.
  var providerSockets: String?
  /// `[bridge] max_concurrent`, `max_running`.
  var providerSlots = SlotLimits()
  /// `[delegate] grace`: seconds that a delegate which was lost is waited for before there is no provider.
  var delegateGrace = 30.0
  /// `[limits]`.
  var limits = Limits()
  /// `[events] retention`.
  var retention = EventRetention()
  /// `[network] allow`: the hosts and domains that instances may talk to; `nil`: the vendors' own.
  var networkAllow: [String]?
  /// `[metrics] listen`: where metrics are served; `nil`: nowhere but through the control socket.
  var metricsListen: ListenAddress?
  /// `[shutdown] grace`: seconds that requests in progress get at the end.
  var grace = 10.0
  /// `[backup]`.
  var backup = Backup()
  /// `[log] level`.
  var logLevel = Logger.Level.info
}

extension Configuration {
  /// Drops nothing of what is stored: how long it is to be kept may be among what could not be read.
  mutating func keepEverything() {
    retention = EventRetention(maxAge: 1e10, maxCountPerInstance: 1_000_000_000)
    backup.every = Seconds(literal: 0)
  }

  /// Who may do what in the daemon of these paths.
  func access(_ paths: DaemonPaths, names: any NameDirectory) -> AccessPolicy {
    AccessPolicy(
      admins: admins, create: createRules, ownUid: paths.isUserDaemon ? paths.uid : nil, hosts: networkAllow,
      commands: commands(paths), names: names)
  }

  /// Who may have programs run as children of the daemon.
  func commands(_ paths: DaemonPaths) -> AccessPolicy.CommandSetters {
    if sameUid || paths.isUserDaemon { return .admins }
    return paths.isService ? .nobody : .root
  }

  /// How providers are run.
  func bridge(_ paths: DaemonPaths) -> BridgeOptions {
    BridgeOptions(
      allow: providerDirectories, commands: commands(paths) != .nobody,
      unitSockets: providerSockets ?? paths.unitSockets, limits: providerSlots)
  }

  /// How much one connection may ask for.
  var transport: TransportLimits {
    TransportLimits(
      maxFrameBytes: limits.maxFrameBytes.bytes, frameTimeout: limits.frameTimeout.duration,
      maxInFlight: limits.maxInFlight, maxOutboundBytes: limits.maxOutboundBytes.bytes,
      writeTimeout: limits.writeTimeout.duration)
  }

  /// How many connections there may be, and what all of a uid may ask for; as far as the process has descriptors.
  var connections: ConnectionLimits {
    ConnectionLimits(
      perUser: limits.connections, total: limits.totalConnections,
      user: AllowanceLimits(
        callsPerSecond: limits.callsPerSecond, maxInFlight: limits.maxInFlightPerUid,
        maxBufferedBytes: limits.bufferedBytesPerUid.bytes)
    ).fitting(descriptors: ConnectionLimits.descriptors)
  }
}
