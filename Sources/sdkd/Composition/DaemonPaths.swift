import Glibc

/// Where a daemon's files are: as given, else the defaults of its mode (`operations.md`, "Files").
struct DaemonPaths: Sendable {
  /// The configuration file.
  let config: String
  /// The directory of the state.
  let state: String
  /// The control socket.
  let socket: String
  /// Whether it is a user's own daemon: then its uid is admin.
  let isUserDaemon: Bool

  /// Whether systemd runs it for all users, as the package does: then its children could read every instance's state.
  let isSystemUnit: Bool

  /// The configuration of the packaged system daemon.
  static let packaged = "/etc/sdkd/sdkd.toml"

  init(config: String?, state: String?, socket: String?) {
    let environment = Self.variable
    // A system daemon runs as root or as a user that owns no home; a user's daemon has a runtime directory or a home.
    isUserDaemon = getuid() != 0 && Self.userName != "sdkd" && environment("STATE_DIRECTORY") == nil
    isSystemUnit = !isUserDaemon && environment("STATE_DIRECTORY") != nil
    let home = environment("HOME") ?? "/"
    if isUserDaemon {
      let configHome = environment("XDG_CONFIG_HOME") ?? "\(home)/.config"
      let stateHome = environment("XDG_STATE_HOME") ?? "\(home)/.local/state"
      let runtime = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
      self.config = config ?? "\(configHome)/sdkd/sdkd.toml"
      self.state = state ?? "\(stateHome)/sdkd"
      self.socket = socket ?? environment("SDKD_SOCKET") ?? "\(runtime)/sdkd/sdkd.sock"
    } else {
      self.config = config ?? Self.packaged
      self.state = state ?? environment("STATE_DIRECTORY") ?? "/var/lib/sdkd"
      self.socket = socket ?? environment("SDKD_SOCKET") ?? "/run/sdkd/sdkd.sock"
    }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }

  private static var userName: String? {
    getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) }
  }
}
