import DelegateBridge
import Glibc
import SDKProtocol

/// The paths of a daemon's files: as given, otherwise the defaults of its mode (sdkd(8)).
struct DaemonPaths: Sendable {
  /// The configuration file.
  let config: String
  /// The state directory.
  let state: String
  /// The control socket.
  let socket: String
  /// The directory with the sockets of token providers that are units, unless the configuration specifies another.
  var unitSockets = BridgeOptions.standardUnitSockets
  /// Whether the daemon is a user's own. Its uid is then an admin.
  let isUserDaemon: Bool
  /// The daemon's user.
  let uid: UInt32
  /// Whether it is a service with a user of its own, as the package's units run it: neither root's nor a person's
  /// daemon.
  var isService: Bool { !isUserDaemon && uid != 0 }
}

extension DaemonPaths {
  init(config: String?, state: String?, socket: String?, unitSockets: String? = nil) {
    let environment = Self.variable
    if let unitSockets { self.unitSockets = unitSockets }
    uid = getuid()
    // A system daemon runs as root or as a user without a home. A user's daemon has a runtime directory or a home.
    isUserDaemon = uid != 0 && Self.userName != "sdkd" && environment("STATE_DIRECTORY") == nil
    let home = environment("HOME") ?? "/"
    if isUserDaemon {
      let configHome = environment("XDG_CONFIG_HOME") ?? "\(home)/.config"
      let stateHome = environment("XDG_STATE_HOME") ?? "\(home)/.local/state"
      let runtime = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
      self.config = config ?? "\(configHome)/sdkd/sdkd.toml"
      self.state = state ?? "\(stateHome)/sdkd"
      self.socket = socket ?? environment("SDKD_SOCKET") ?? "\(runtime)/sdkd/sdkd.sock"
    } else {
      self.config = config ?? "/etc/sdkd/sdkd.toml"
      // With DynamicUser= systemd passes a link to the directory, and the store refuses a link as its directory.
      self.state = state ?? environment("STATE_DIRECTORY").map(Self.resolved) ?? "/var/lib/sdkd"
      self.socket = socket ?? environment("SDKD_SOCKET") ?? "/run/sdkd/sdkd.sock"
    }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }

  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static var userName: String? {
    getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) }
  }
}

extension DaemonPaths {
  /// Returns the paths as `daemon.info` tells them to admins: absolute, since the reader has another working directory.
  func published(unitSockets: String) -> DaemonInfo.Paths {
    DaemonInfo.Paths(
      configuration: Self.absolute(config), state: Self.absolute(state), socket: Self.absolute(socket),
      unitSockets: Self.absolute(unitSockets))
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
  }
}

/// The creation of directories that a daemon started by hand needs.
enum Directories {
  /// Creates a directory and its missing parents. Existing ones stay unchanged. A failure is reported when the
  /// directory is used.
  static func make(_ path: String, mode: mode_t) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
      mkdir(made, mode)
    }
  }

  /// Returns the directory of a path; `.` for a bare name.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
