import JSONRPC
import SDKProtocol

/// The units of a daemon and of its token providers, as systemd and the journal know them.
struct BundleUnits {
  /// The properties that are shown. None holds the environment or the arguments of a program.
  private static let properties = [
    "Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "NRestarts", "StatusText", "MainPID",
    "ExecMainCode", "ExecMainStatus", "ExecMainStartTimestamp", "ExecMainExitTimestamp", "ActiveEnterTimestamp",
    "InactiveEnterTimestamp", "FragmentPath", "DropInPaths", "NeedDaemonReload", "User", "MemoryCurrent", "MemoryHigh",
    "MemoryMax", "TasksCurrent", "TasksMax", "CPUUsageNSec", "LimitNOFILE", "LimitNPROC", "FileDescriptorStoreMax",
    "NFileDescriptorStore", "WatchdogUSec", "WatchdogTimestamp", "Listen", "Backlog", "SocketMode", "SocketUser",
    "SocketGroup", "NAccepted", "NConnections", "NRefused",
  ]
  /// The number of token providers whose units are shown.
  private static let most = 50

  let place: DaemonPlace
  /// The names of the daemon's units; `nil` for a daemon without units.
  private let daemon: [String]?
  /// The names of the units of its token providers, without the suffix.
  private let providers: [String]

  /// Creates the units of a daemon with these instances.
  init(place: DaemonPlace, instances: [JSON]) {
    self.place = place
    daemon = place.unit.map { ["\($0).socket", "\($0).service"] }
    let names = Set(instances.compactMap { $0["provider"]?["unit"]?.stringValue }).sorted()
    providers = names.prefix(Self.most).map { "sdkd-provider-\(place.tenant.map { "\($0)-" } ?? "")\($0)" }
  }

  private var manager: [String] { place.mode == .user ? ["--user"] : [] }

  private func known() throws -> [String] {
    guard let daemon else { throw BundleMachine.failure("The daemon was started by hand and has no unit.") }
    return daemon
  }

  /// Returns the properties of the units.
  func properties() throws -> String {
    let names = try known() + providers.map { "\($0).socket" }
    let fields = "--property=\(Self.properties.joined(separator: ","))"
    let shown = try BundleMachine.output(of: ["systemctl"] + manager + ["show", fields] + names)
    guard !providers.isEmpty else { return shown }
    let words = ["systemctl"] + manager + ["list-units", "--all", "--plain", "--no-legend"]
    // Of a provider's service there is an instance for each question.
    return shown + "\n" + (try BundleMachine.output(of: words + providers.map { "\($0)@*" }, isEmptyAllowed: true))
  }

  /// Returns the files of the units with their drop-ins.
  func files() throws -> String {
    let names = try known() + providers.flatMap { ["\($0).socket", "\($0)@.service"] }
    return try BundleMachine.output(of: ["systemctl"] + manager + ["--no-pager", "cat"] + names)
  }

  /// Returns the journal of the daemon, with what systemd says of it.
  func journal() throws -> BundleJournal {
    guard let daemon else {
      throw BundleMachine.failure("The daemon was started by hand: its log is its standard error.")
    }
    return try Self.read(BundleJournal.arguments(units: daemon, manager: manager))
  }

  /// Returns what systemd says of the providers' units. What the providers themselves write stays out.
  func providerJournal() throws -> BundleJournal {
    guard !providers.isEmpty else {
      throw BundleMachine.failure("No instance that is known has a provider with a unit.")
    }
    let units = providers.flatMap { ["\($0).socket", "\($0)@*"] }
    return try Self.read(
      BundleJournal.arguments(units: units, manager: manager, matches: manager.isEmpty ? ["_PID=1"] : []))
  }

  private static func read(_ words: [String]) throws -> BundleJournal {
    let ended = try BundleMachine.run(words)
    guard !JournalReader.isBlind(ended.errors) else {
      throw BundleMachine.failure("This user can't read the journal; root and the group systemd-journal can.")
    }
    guard ended.status == 0 else { throw BundleMachine.failure(words[0], ended) }
    return BundleJournal(ended.output)
  }
}
