import Glibc
import SDKClient

/// Which daemon is meant, and what its mode says of its files and units (`operations.md`, "Files").
struct DaemonPlace {
  /// How the daemon is run.
  enum Mode: Hashable {
    /// By the machine's units.
    case system
    /// By the units of `systemctl --user`.
    case user
    /// By a tenant's units.
    case tenant(String)
    /// By somebody, with a socket of their choice.
    case byHand
  }

  /// How it is run.
  let mode: Mode
  /// The path of its socket.
  let socket: String

  /// The daemon at a location.
  ///
  /// - Throws: `SDKClientError.badLocation`.
  init(_ location: SocketLocation) throws {
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

  /// The tenant whose socket a path is; `nil` for any other path.
  private static func tenant(of socket: String) -> String? {
    let file = socket.split(separator: "/").last.map(String.init) ?? ""
    let name = file.hasSuffix(".sock") ? String(file.dropLast(5)) : file
    return (try? SocketLocation.tenant(name).path()) == socket ? name : nil
  }

  /// The tenant, for a tenant's daemon.
  var tenant: String? { if case .tenant(let name) = mode { name } else { nil } }

  /// How sentences call it.
  var name: String {
    switch mode {
    case .system: "the system's daemon (sdkd.service)"
    case .user: "the user's daemon (systemctl --user, sdkd.service)"
    case .tenant(let name): "the daemon of the tenant \(name) (sdkd@\(name).service)"
    case .byHand: "the daemon at \(socket)"
    }
  }

  /// Its configuration file; `nil` when only whoever started it knows.
  var configuration: String? {
    switch mode {
    case .system: "/etc/sdkd/sdkd.toml"
    case .tenant(let name): "/etc/sdkd-tenants/\(name)/sdkd.toml"
    case .user: "\(Self.folder("XDG_CONFIG_HOME", ".config"))/sdkd/sdkd.toml"
    case .byHand: nil
    }
  }

  /// The directory of its state.
  var state: String? {
    switch mode {
    case .system: "/var/lib/sdkd"
    case .tenant(let name): "/var/lib/sdkd-tenants/\(name)"
    case .user: "\(Self.folder("XDG_STATE_HOME", ".local/state"))/sdkd"
    case .byHand: nil
    }
  }

  /// The folder with the sockets of its token providers that are units, unless its configuration names another.
  var providerSockets: String {
    if case .tenant(let name) = mode { return "/run/sdkd-providers/\(name)" }
    return "/run/sdkd-providers"
  }

  /// Its unit without the ending; `nil` without one.
  var unit: String? {
    switch mode {
    case .system, .user: "sdkd"
    case .tenant(let name): "sdkd@\(name)"
    case .byHand: nil
    }
  }

  /// A command to its unit, such as `systemctl status sdkd.service`; without a unit `byHand`.
  func systemctl(_ verb: String, _ ending: String, byHand: String) -> String {
    guard let unit else { return byHand }
    return "systemctl \(mode == .user ? "--user " : "")\(verb) \(unit).\(ending)"
  }

  private static func folder(_ variable: String, _ below: String) -> String {
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
    return value(variable) ?? "\(value("HOME") ?? "/")/\(below)"
  }
}
