import ArgumentParser
import CLinux
import Dispatch
import Glibc
import JSONRPC
import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import Systemd

/// The command line of `sdkd`. `Daemon` does the rest.
@main
struct SDKDaemonCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sdkd",
    abstract: "Keeps users signed in to customer-support chat services.",
    discussion: """
      Runs in the foreground and is ready when it prints "sdkd: ready", or tells systemd so. Stops on SIGTERM and \
      SIGINT after the requests that must not be cut off. SIGUSR2 replaces it by its program anew, and connections stay. Exits with 64 for wrong usage, 75 when another daemon has the socket or \
      the state, and 77 when the socket's path is another user's.
      """,
    version: SDKVersion.program)

  @Option(help: "The configuration file FILE; FILE.d and instances.d are looked for beside it.")
  var config: String?

  @Option(help: "The directory of the state.")
  var state: String?

  @Option(help: "The path of the control socket, unless systemd passes one. Also: SDKD_SOCKET.")
  var socket: String?

  @Option(help: "The folder of token providers' sockets, unless bridge.unit_sockets names one.")
  var unitSockets: String?

  @Flag(help: "Check the configuration, say every mistake, and exit.")
  var check = false

  @Flag(help: .hidden)
  var showConfig = false

  @Flag(help: "Print the OpenRPC document of the control protocol and exit.")
  var openrpc = false

  @Flag(help: "Print a configuration with every setting, its default and what it means, and exit.")
  var defaultConfig = false

  @Option(help: .hidden)
  var restore: String?

  @Flag(help: .hidden)
  var restoreNothing = false

  /// Whether the file of `--config` may be absent with `--check`, as it may be for the daemon.
  @Flag(help: .hidden)
  var configMayBeAbsent = false

  /// Whether `--check` accepts what the daemon only warns of. An upgrade asks so whether the daemon would serve.
  @Flag(help: .hidden)
  var onlyMistakes = false

  @Flag(help: .hidden)
  var inspectKey = false

  @Flag(help: .hidden)
  var metricsTable = false

  @Flag(help: .hidden)
  var settingsTable = false

  /// Runs the daemon as a task, and every other command without tasks on the first thread.
  ///
  /// A command that uses `ConfinedState` can't read `/proc`. The threads of tasks would sometimes trap there, because
  /// libdispatch looks for them in `/proc`.
  func run() throws {
    if metricsTable { return print(MetricsTable.markdown, terminator: "") }
    if settingsTable { return print(OpenRPCDocument.text(of: SettingsDocument.json), terminator: "") }
    if defaultConfig { return print(Configuration.defaultText, terminator: "") }
    if openrpc {
      let methods = CommonMethods.all + Kinds.all.flatMap { $0.methods }
      let document = OpenRPCDocument.make(
        methods: methods, notifications: CommonMethods.notifications,
        kinds: Kinds.all.map(\.described))
      print(OpenRPCDocument.text(of: document), terminator: "")
      return
    }
    let paths = DaemonPaths(config: config, state: state, socket: socket, unitSockets: unitSockets)
    if restore != nil || restoreNothing {
      throw ExitCode(Restoration.run(paths, restore ?? "", beginsAnew: restoreNothing))
    }
    if inspectKey { throw ExitCode(KeyInspection.run(paths)) }
    if showConfig { throw ExitCode(ConfigurationCheck.show(paths)) }
    if check {
      throw ExitCode(
        ConfigurationCheck.run(paths, needsFile: config != nil && !configMayBeAbsent, onlyMistakes: onlyMistakes))
    }
    Self.protectMemory()
    // Each TLS connection has buffers of 32 and 16 KiB and rarely fills their first page.
    cl_map_allocations_from(16 << 10)
    Task {
      let status = await Daemon(paths: paths).run()
      Self.exit(withError: ExitCode(status))
    }
    dispatchMain()
  }

  /// Keeps secrets in memory out of core files and away from other processes of the same user.
  private static func protectMemory() {
    _ = cl_set_dumpable(0)
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}

/// `sdkd --check`: writes every mistake as a line on standard error.
enum ConfigurationCheck {
  /// Checks the configuration and prints its mistakes.
  ///
  /// - Parameters:
  ///   - needsFile: whether it is a mistake that the main file does not exist.
  ///   - onlyMistakes: whether to leave out what the daemon only warns of.
  /// - Returns: 0 without mistakes, 78 (`EX_CONFIG`) otherwise.
  static func run(_ paths: DaemonPaths, needsFile: Bool, onlyMistakes: Bool) -> Int32 {
    let path = paths.config
    if needsFile, access(path, F_OK) != 0, errno == ENOENT {
      StandardError.write(untrusted: "\(path): The file does not exist.")
      return 78
    }
    let user = becomeUser(of: path)
    let loaded = ConfigurationLoader.load(
      path: path, kinds: Kinds.all, commandNeedsSameUid: paths.isService || user != nil)
    let mistakes = loaded.mistakes + (onlyMistakes ? [] : loaded.warnings)
    for mistake in mistakes { StandardError.write(untrusted: "\(mistake)") }
    if mistakes.isEmpty {
      let count = loaded.instances.count
      let dropIns = loaded.dropIns == 1 ? " and 1 drop-in" : " and \(loaded.dropIns) drop-ins"
      let files = "\(path)\(loaded.dropIns == 0 ? "" : dropIns)"
      print("\(files): \(count == 1 ? "1 instance" : "\(count) instances"), no mistakes")
      return 0
    }
    return 78
  }

  /// `sdkd --show-config`: prints the settings that files set as JSON.
  ///
  /// - Returns: 0, or 78 (`EX_CONFIG`) and the mistakes when a file can't be used.
  static func show(_ paths: DaemonPaths) -> Int32 {
    _ = becomeUser(of: paths.config)
    let files = ConfigurationFiles(main: paths.config)
    let directory = MistakeLog(file: files.dropInDirectory)
    let (settings, logs) = files.settings(directory)
    let mistakes = ([directory] + logs).flatMap(\.sorted)
    for mistake in mistakes { StandardError.write(untrusted: "\(mistake)") }
    guard mistakes.isEmpty else { return 78 }
    print(JSONWriter.text(of: settings.shown))
    return 0
  }

  /// Takes the rights of the user whose daemon has this configuration: root can read what the daemon can't.
  ///
  /// - Returns: the user; `nil` for a file that belongs to no unit.
  private static func becomeUser(of path: String) -> ServiceUser? {
    let user = ServiceUser(ofConfiguration: path)
    user?.become()
    return user
  }
}
