import Foundation

/// A folder of the host with an OpenSSH client that reaches booted machines. The client starts the machine's own server
/// inside the machine, so that no network is needed.
final class SSHFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("sdkd-ssh-\(UUID().uuidString.prefix(8))")

  /// The variables of programs that run this client as `ssh`.
  var environment: [String: String] {
    ["PATH": "\(url.path)/bin:/usr/bin:/bin", "HOME": url.path, "LC_ALL": "C.UTF-8"]
  }

  /// - Parameter machines: the machines, by the names of hosts.
  init(_ machines: [String: Machine]) async throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let made = try await Machine.run(["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "\(url.path)/key"])
    guard made.status == 0 else { throw Machine.Failure(description: made.error) }
    let key = try String(contentsOf: url.appendingPathComponent("key.pub"), encoding: .utf8)
    for machine in machines.values {
      try await machine.sh("install -d -m 700 /root/.ssh /run/sshd; cat > /root/.ssh/authorized_keys", input: key)
    }
    let hosts = machines.map { name, machine in
      """
      Host \(name)
        ProxyCommand /usr/bin/nsenter --target \(machine.leader) --all -- /usr/sbin/sshd -i

      """
    }
    try write(
      "config",
      hosts.joined() + """
        # A command that ends before ssh has sent its greeting sometimes makes ssh fail without a message.
        Host gone
          ProxyCommand sleep 1
        Host *
          User root
          IdentityFile \(url.path)/key
          StrictHostKeyChecking no
          UserKnownHostsFile \(url.path)/known
          LogLevel ERROR
          BatchMode yes

        """)
    try write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F '\(url.path)/config' \"$@\"\n", mode: 0o755)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Writes a file of the folder. Returns its path.
  @discardableResult func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file.path
  }
}
