internal import Glibc

/// The directory of the sockets of tenants' daemons (sdkd(8)).
struct TenantSockets {
  /// The directory in which `sdkd@NAME.socket` creates the tenants' sockets.
  static let system = TenantSockets(directory: "/run/sdkd-tenants")

  let directory: String

  /// Whether a tenant can have this name. The name is part of a user name, `sdkd_NAME`, which systemd limits.
  /// `sdkd@.socket` checks the same rule.
  static func canBeTenant(_ name: String) -> Bool {
    (1...26).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Returns the path of a tenant's socket.
  func path(of tenant: String) -> String { "\(directory)/\(tenant).sock" }

  /// Whether a path is that of a socket in this directory, and only root can write to the directory. Only root can then
  /// have created the socket.
  func contain(_ path: String) -> Bool { RootDirectory(path: directory).containsSocket(path) }
}

/// A directory of sockets that only root can change.
struct RootDirectory {
  /// The directory in which `sdkd.socket` creates the socket of the machine's daemon.
  static let daemon = RootDirectory(path: "/run/sdkd")

  let path: String

  /// Whether a path is that of a socket in this directory, and only root can write to the directory. Only root can then
  /// have created the socket.
  func containsSocket(_ socket: String) -> Bool {
    guard socket.hasPrefix("\(path)/"), socket.hasSuffix(".sock"),
      !socket.dropFirst(path.utf8.count + 1).contains("/")
    else { return false }
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == 0
      && status.st_mode & 0o022 == 0
  }
}
