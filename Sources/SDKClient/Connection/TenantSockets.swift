/// The directory of the sockets of tenants' daemons (`operations.md`, "Files").
struct TenantSockets {
  /// Where `sdkd@NAME.socket` puts them.
  static let system = TenantSockets(directory: "/run/sdkd-tenants")

  let directory: String

  /// Whether a tenant can have this name: it is a part of the name of the user that its daemon runs as (`sdkd_NAME`), which
  /// systemd limits. `sdkd@.socket` asks for the same.
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

  /// The path of a tenant's socket.
  func path(of tenant: String) -> String { "\(directory)/\(tenant).sock" }

  /// Whether a path is that of a socket here, and here is root's alone, so that nobody else can have put it there.
  func contain(_ path: String) -> Bool { RootDirectory(path: directory).containsSocket(path) }
}
