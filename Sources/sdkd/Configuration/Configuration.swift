import DelegateBridge
import JSONRPC
import JSONRPCTransport
import SDKInstances
import SDKProtocol
import StateStore
import Synchronization

/// The daemon's own configuration: `sdkd.toml` as values, a member for each table (sdkd.toml(5)).
struct Configuration: SettingValues, Hashable {
  var access = AccessSettings()
  var bridge = BridgeSettings()
  var delegate = DelegateSettings()
  var limits = LimitSettings()
  var events = EventSettings()
  var network = NetworkSettings()
  var metrics = MetricSettings()
  var shutdown = ShutdownSettings()
  var backup = BackupSettings()
  var log = LogSettings()
}

extension Configuration {
  /// The tables of `sdkd.toml`.
  static let tables: [SettingTable<Configuration>] = [
    AccessSettings.table.of(\.access), BridgeSettings.table.of(\.bridge), DelegateSettings.table.of(\.delegate),
    LimitSettings.table.of(\.limits), EventSettings.table.of(\.events), NetworkSettings.table.of(\.network),
    MetricSettings.table.of(\.metrics), ShutdownSettings.table.of(\.shutdown), BackupSettings.table.of(\.backup),
    LogSettings.table.of(\.log),
  ]

  /// The shape of `sdkd.toml` and of each drop-in.
  static let schema = JSONSchema.object(tables.map { .optional($0.name, $0.schema, $0.summary) })

  /// Reads merged settings. Those that are missing or invalid keep their default.
  ///
  /// - Parameters:
  ///   - log: collects the mistakes about values; those in the form of the files are known.
  ///   - secrets: resolves the secrets that the settings refer to.
  init(
    reading settings: MergedSettings, _ log: MistakeLog, secrets: SecretSource = SecretSource(credentialsDirectory: nil)
  ) {
    self.init()
    let reader = ValueReader(root: .object(settings.root), log: log, secrets: secrets)
    for table in Self.tables {
      for setting in table.settings { setting.read(reader, "\(table.name).\(setting.name)", &self) }
      table.complete(reader, &self)
    }
  }

  /// Disables the deletion of stored data, and backups, which would delete older ones. The settings of both may be
  /// among those that could not be read.
  mutating func keepEverything() {
    events.retention = EventRetention(maxAge: 1e10, maxCountPerInstance: 1_000_000_000)
    backup.every = .zero
  }
}

// MARK: - What applies

extension Configuration {
  /// Returns the access policy of a daemon with these paths.
  func access(_ paths: DaemonPaths, names: any NameDirectory) -> AccessPolicy {
    AccessPolicy(
      admins: access.admins, create: access.create, ownUid: paths.isUserDaemon ? paths.uid : nil, hosts: network.allow,
      commands: commands(paths), names: names)
  }

  /// Returns the callers that may have programs run as children of the daemon.
  func commands(_ paths: DaemonPaths) -> AccessPolicy.CommandSetters {
    if bridge.sameUid || paths.isUserDaemon { return .admins }
    return paths.isService ? .nobody : .root
  }

  /// Returns the settings of the bridge.
  func bridge(_ paths: DaemonPaths) -> BridgeOptions {
    BridgeOptions(
      allow: bridge.allow, commands: commands(paths) != .nobody,
      unitSockets: bridge.unitSockets ?? paths.unitSockets, limits: bridge.slots)
  }
}

/// The configuration in force, for parts that read it whenever they need it.
final class LiveConfiguration: Sendable {
  private let state: Mutex<Configuration>

  init(_ configuration: Configuration) { state = Mutex(configuration) }

  /// The configuration that is now in force.
  var current: Configuration { state.withLock { $0 } }

  /// Replaces the configuration.
  func use(_ configuration: Configuration) { state.withLock { $0 = configuration } }
}
