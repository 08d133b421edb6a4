import Foundation
import Glibc
import Testing

@testable import SDKClient

@Suite struct TenantSocketsTests {
  @Test func onlyASocketInTheirDirectoryIsATenants() {
    let sockets = TenantSockets.system
    #expect(sockets.path(of: "acme") == "/run/sdkd-tenants/acme.sock")
    let elsewhere = [
      "/run/sdkd/sdkd.sock", "/run/sdkd-tenants", "/run/sdkd-tenants/acme", "/run/sdkd-tenants/../mallory/s.sock",
      "/run/sdkd-tenants2/acme.sock", "run/sdkd-tenants/acme.sock",
    ]
    for path in elsewhere { #expect(!sockets.contain(path), "\(path)") }
  }

  @Test(
    .enabled(if: getuid() == 0, "needs root, who owns the directory"),
    arguments: [
      (0o755, 0, true), (0o775, 0, false), (0o1777, 0, false), (0o755, 1, false),
    ])
  func theDirectoryMustBeRootsAlone(mode: mode_t, owner: uid_t, isTrusted: Bool) throws {
    let directory = try TestDirectory()
    let folder = "\(directory.path)/tenants"
    try #require(mkdir(folder, 0o700) == 0)
    defer {
      unlink(folder + "-link")
      rmdir(folder)
    }
    #expect(chmod(folder, mode) == 0 && chown(folder, owner, 0) == 0)
    let sockets = TenantSockets(directory: folder)
    #expect(sockets.contain(sockets.path(of: "acme")) == isTrusted)
    // A symbolic link is not accepted as the directory, even if its target is.
    #expect(symlink(folder, folder + "-link") == 0)
    let linked = TenantSockets(directory: folder + "-link")
    #expect(!linked.contain(linked.path(of: "acme")))
  }
}
