internal import Glibc

/// The directory of the sockets of tenants' daemons (`operations.md`, "Files").
struct TenantSockets {
  /// Where `sdkd@NAME.socket` puts them.
  static let system = TenantSockets(directory: "/run/sdkd-tenants")

  let directory: String

  /// The path of a tenant's socket.
  func path(of tenant: String) -> String { "\(directory)/\(tenant).sock" }

  /// Whether a path is that of a socket here, and here is root's alone, so that nobody else can have put it there.
  func contain(_ path: String) -> Bool {
    guard path.hasPrefix("\(directory)/"), path.hasSuffix(".sock"),
      !path.dropFirst(directory.utf8.count + 1).contains("/")
    else { return false }
    var status = stat()
    return lstat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == 0
      && status.st_mode & 0o022 == 0
  }
}
