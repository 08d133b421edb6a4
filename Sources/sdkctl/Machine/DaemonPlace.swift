import Glibc
import JSONRPC
import SDKClient

/// The daemon that a command is for, with the files and units of its mode (sdkd(8)).
struct DaemonPlace {
  /// The way in which the daemon is started.
  enum Mode: Hashable {
    /// The machine's daemon, which the system's units start.
    case system
    /// A user's daemon, which the units of `systemctl --user` start.
    case user
    /// The daemon of the tenant with this name, which the tenant's units start.
    case tenant(String)
    /// A daemon that a user starts by hand, with a socket at any other path.
    case byHand
  }

  /// The way in which the daemon is started.
  let mode: Mode
  /// The path of the daemon's socket.
  let socket: String
  /// Whether the daemon runs in a container without systemd, and so without a unit.
  let isInContainer: Bool
  /// The paths in the response to `daemon.info`; `nil` if they are not known.
  private var told: JSON?

  /// Determines the daemon at a location.
  ///
  /// - Throws: `SDKClientError.badLocation`.
  init(_ location: SocketLocation, isInContainer: Bool = Self.isContainerWithoutSystemd) throws {
    self.isInContainer = isInContainer
    socket = try location.path()
    if case .tenant(let name) = location {
      mode = .tenant(name)
    } else if socket == (try? SocketLocation.system.path()) {
      mode = .system
    } else if socket == (try? SocketLocation.user.path()) {
      mode = .user
    } else if let name = Self.tenant(of: socket) {
      mode = .tenant(name)
    } else {
      mode = .byHand
    }
  }

  /// Returns the tenant whose socket has this path; `nil` for any other path.
  private static func tenant(of socket: String) -> String? {
    let file = socket.split(separator: "/").last.map(String.init) ?? ""
    let name = file.hasSuffix(".sock") ? String(file.dropLast(5)) : file
    return (try? SocketLocation.tenant(name).path()) == socket ? name : nil
  }

  /// Whether this is a container without systemd. The image and most container managers set the variable `container`
  /// (systemd's "Container Interface"); `/run/systemd/system` exists where systemd is the init (sd_booted(3)).
  private static var isContainerWithoutSystemd: Bool {
    guard let name = getenv("container"), name.pointee != 0 else { return false }
    return access("/run/systemd/system", F_OK) != 0
  }

  /// The name of the tenant; `nil` for other daemons.
  var tenant: String? { if case .tenant(let name) = mode { name } else { nil } }

  /// The name of the daemon in sentences.
  var name: String {
    guard unit != nil else { return "the daemon at \(socket)" }
    return switch mode {
    case .system: "the system's daemon (sdkd.service)"
    case .user: "the user's daemon (systemctl --user, sdkd.service)"
    case .tenant(let name): "the daemon of the tenant \(name) (sdkd@\(name).service)"
    case .byHand: "the daemon at \(socket)"
    }
  }

  /// Returns this place with the paths in a response to `daemon.info`, which only admins get.
  func adding(_ info: JSON) -> DaemonPlace {
    var copy = self
    copy.told = info["paths"]
    return copy
  }

  /// The path of the daemon's configuration file; `nil` for a daemon started by hand, unless `daemon.info` gave the
  /// path.
  var configuration: String? {
    if let path = told?["configuration"]?.stringValue { return path }
    return switch mode {
    case .system: "/etc/sdkd/sdkd.toml"
    case .tenant(let name): "/etc/sdkd-tenants/\(name)/sdkd.toml"
    case .user: "\(Self.folder("XDG_CONFIG_HOME", ".config"))/sdkd/sdkd.toml"
    case .byHand: nil
    }
  }

  /// The directory of the files that define instances; only its name if the configuration file is not known.
  var instanceFiles: String {
    guard let file = configuration, let slash = file.lastIndex(of: "/") else { return "instances.d" }
    return String(file[...slash]) + "instances.d"
  }

  /// The directory of the daemon's state; `nil` for a daemon started by hand, unless `daemon.info` gave the path.
  var state: String? {
    if let path = told?["state"]?.stringValue { return path }
    return switch mode {
    case .system: "/var/lib/sdkd"
    case .tenant(let name): "/var/lib/sdkd-tenants/\(name)"
    case .user: "\(Self.folder("XDG_STATE_HOME", ".local/state"))/sdkd"
    case .byHand: nil
    }
  }

  /// The directory with the sockets of token providers that are units; `nil` unless `daemon.info` gave the path.
  var unitSockets: String? { told?["unitSockets"]?.stringValue }

  /// The name of the daemon's unit without the suffix; `nil` for a daemon started by hand or in a container.
  var unit: String? {
    guard !isInContainer else { return nil }
    return switch mode {
    case .system, .user: "sdkd"
    case .tenant(let name): "sdkd@\(name)"
    case .byHand: nil
    }
  }

  /// Returns a command for the daemon's unit, such as `systemctl status sdkd.service`; `byHand` for a daemon without a
  /// unit.
  func systemctl(_ verb: String, _ ending: String, byHand: String) -> String {
    guard let unit else { return byHand }
    return "systemctl \(mode == .user ? "--user " : "")\(verb) \(unit).\(ending)"
  }

  /// The advice for a daemon without a unit that does not run.
  var startByHand: String {
    isInContainer ? "start the container with the daemon" : "start the daemon: sdkd --socket \(socket)"
  }

  /// Returns a command of `sdkctl` for this daemon, such as `sdkctl --tenant acme show desk`.
  func command(_ words: String) -> String {
    switch mode {
    case .system: "sdkctl \(words)"
    case .user: "sdkctl --user \(words)"
    case .tenant(let name): "sdkctl --tenant \(name) \(words)"
    // The user has named this daemon with an option or SDKD_SOCKET, and does so again.
    case .byHand: "sdkctl \(words)"
    }
  }

  /// The command that makes the root key of the state again, with what it needs; `nil` for a daemon whose key is no
  /// credential.
  var keyRecovery: String? {
    guard unit != nil, mode != .user else { return nil }
    return command("key init --recovery") + ", with the recovery key of the state"
  }

  private static func folder(_ variable: String, _ below: String) -> String {
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
    return value(variable) ?? "\(value("HOME") ?? "/")/\(below)"
  }
}
