import Foundation
import Glibc
import JSONRPC
import Testing

/// `sdkctl --host` through OpenSSH's own client and server.
@Suite struct CounterpartSSHTests {
  /// Writes the configuration of a client and a server with throw-away keys. The client starts the server itself, so that
  /// no port is needed. Returns the folder of an `ssh` that uses it.
  private func openSSH(_ desk: Desk) throws -> String {
    try Counterpart.require("/usr/sbin/sshd", package: "openssh-server")
    try Counterpart.require("/usr/bin/ssh", package: "openssh-client")
    // The server wants it when it runs as root.
    if getuid() == 0 { try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true) }
    let folder = desk.folder.path
    for name in ["key", "hostkey"] {
      _ = try Vendor.output("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(name)"])
    }
    let programs = URL(fileURLWithPath: Program.path("sdkctl")).deletingLastPathComponent().path
    try desk.write(
      "sshd_config",
      """
      HostKey \(folder)/hostkey
      AuthorizedKeysFile \(folder)/key.pub
      StrictModes no
      UsePAM no
      PidFile none
      PermitRootLogin yes
      SetEnv PATH=\(programs):/usr/bin:/bin SDKD_SOCKET=\(desk.socket)

      """)
    try desk.write(
      "ssh_config",
      """
      Host *
        IdentityFile \(folder)/key
        IdentitiesOnly yes
        StrictHostKeyChecking no
        UserKnownHostsFile \(folder)/known
        LogLevel ERROR
        BatchMode yes
      Host kiosk-7
        ProxyCommand /usr/sbin/sshd -i -f \(folder)/sshd_config -E \(folder)/sshd.log
      Host gone
        HostName 127.0.0.1
        Port 1

      """)
    try desk.write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F '\(folder)/ssh_config' \"$@\"\n", mode: 0o755)
    return "\(folder)/bin"
  }

  @Test("A user signs in and gets a token over OpenSSH; a host that can't be reached gives ssh's status")
  func overSSH() throws {
    let desk = try Desk.open()
    try desk.create("desk", on: try desk.connect())
    let environment = ["PATH": "\(try openSSH(desk)):/usr/bin:/bin", "SDKD_SOCKET": "/nowhere"]
    let jwt = try Vendor.mint("alice")
    let login = try desk.sdkctl(["-H", "kiosk-7", "login", "desk"], input: jwt + "\n", environment: environment)
    #expect(login.status == 0, "\(login.error)")
    #expect(try desk.sdkctl(["-H", "kiosk-7", "token", "desk"], environment: environment).output == jwt + "\n")
    let missing = try desk.sdkctl(["-H", "kiosk-7", "show", "nope"], environment: environment)
    #expect(missing.status == 5, "\(missing.error)")
    let gone = try desk.sdkctl(["-H", "gone", "list"], environment: environment)
    #expect(gone.status == 255 && gone.error.contains("Connection refused"), "\(gone.error)")
    #expect(!gone.error.contains("sdkctl:"), "\(gone.error)")
  }
}
