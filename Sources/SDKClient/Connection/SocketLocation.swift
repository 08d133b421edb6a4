internal import Glibc

/// The location of a daemon's socket (sdkd-protocol(7)).
public enum SocketLocation: Sendable, Hashable {
  /// The path in `SDKD_SOCKET`, else the user's daemon if its socket exists, else the system's.
  case automatic
  /// The socket at this path.
  case path(String)
  /// The daemon of the current user.
  case user
  /// The daemon of the machine.
  case system
  /// The daemon of a tenant.
  case tenant(String)

  private static let systemPath = "/run/sdkd/sdkd.sock"

  /// Returns the path of the socket, without checking that a daemon listens there.
  ///
  /// - Throws: `SDKClientError.badLocation` for an empty path or a name that no tenant can have.
  public func path() throws(SDKClientError) -> String { try path(in: .process) }

  func path(in surroundings: Surroundings) throws(SDKClientError) -> String {
    switch self {
    case .automatic:
      if let path = surroundings.variable("SDKD_SOCKET"), !path.isEmpty { return path }
      if let directory = surroundings.runtimeDirectory {
        let path = Self.userPath(directory)
        if surroundings.exists(path) { return path }
      }
      return Self.systemPath
    case .path(let path):
      guard !path.isEmpty else { throw .badLocation("The path of the socket is empty.") }
      return path
    case .user:
      // systemd always creates this directory; su and cron leave `XDG_RUNTIME_DIR` unset.
      return Self.userPath(surroundings.runtimeDirectory ?? "/run/user/\(surroundings.uid)")
    case .system: return Self.systemPath
    case .tenant(let name):
      guard TenantSockets.canBeTenant(name) else {
        throw .badLocation(
          "\(name.debugDescription) can't be the name of a tenant: that is at most 26 letters, digits, - and _.")
      }
      return TenantSockets.system.path(of: name)
    }
  }

  private static func userPath(_ directory: String) -> String { "\(directory)/sdkd/sdkd.sock" }

  /// The inputs from which the path is chosen: the user, environment variables and existing files. Tests replace them.
  struct Surroundings {
    var uid: UInt32
    var variable: (String) -> String?
    var exists: (String) -> Bool

    static var process: Surroundings {
      Surroundings(
        uid: getuid(), variable: { name in getenv(name).map { String(cString: $0) } },
        exists: { access($0, F_OK) == 0 })
    }

    var runtimeDirectory: String? {
      variable("XDG_RUNTIME_DIR").flatMap { $0.isEmpty ? nil : $0 }
    }
  }
}
