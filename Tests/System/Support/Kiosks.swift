import Foundation
import Testing

/// Booted machines that the example playbook of `Packaging/ansible` sets up, each with a token provider.
struct Kiosks {
  /// The secret with which the token provider would sign in at its backend.
  static let secret = "of-the-backend"

  /// The machines, by the names of hosts.
  let machines: [String: Machine]
  let folder: SSHFolder

  init(_ machines: [String: Machine]) async throws {
    self.machines = machines
    folder = try await SSHFolder(machines)
    try folder.write(
      "inventory.yml",
      """
      kiosks:
        hosts: {\(machines.keys.sorted().map { "\($0): {}" }.joined(separator: ", "))}
        vars:
          ansible_ssh_executable: \(folder.url.path)/bin/ssh
          ansible_python_interpreter: /usr/bin/python3
          ansible_user: root

      """)
    try folder.write(
      "front-desk-token",
      """
      #!/bin/sh
      grep -q 'of-the-b' "$CREDENTIALS_DIRECTORY/backend-key" || exit 1
      exec /usr/bin/sdk-sandbox mint --external-id "$SDKD_EXTERNAL_ID" --ttl 600

      """)
  }

  /// A run of the playbook that has ended.
  struct Played: CustomStringConvertible {
    let status: Int32
    /// The output.
    let text: String
    /// The number of changes on each machine, in the order of their names.
    let changes: [Int]

    var description: String { text }
  }

  /// Runs the playbook.
  ///
  /// - Parameters:
  ///   - package: the path of the package.
  ///   - name: a variable that gets another value.
  func play(
    _ package: String, _ options: [String] = [], changing name: String = "", to value: String = ""
  ) async throws -> Played {
    var variables = [
      "base_url": "http://127.0.0.1:8787/zm", "app_id": "5f0000000000000000000001", "package_file": package,
      "token_program": "\(folder.url.path)/front-desk-token", "backend_key": "{\"key\": \"\(Self.secret)\"}\n",
      "recovery_folder": "\(folder.url.path)/recovery", "batches": "100%",
    ]
    if !name.isEmpty { variables[name] = value }
    let file = try folder.write("variables.json", String(decoding: JSONEncoder().encode(variables), as: UTF8.self))
    let ended = try await Machine.run(
      ["/usr/bin/ansible-playbook", "-i", "\(folder.url.path)/inventory.yml", "-e", "@\(file)"] + options
        + [MachineRoot.project.appendingPathComponent("Packaging/ansible/kiosks.yml").path],
      environment: folder.environment, within: 300)
    let changes = ended.output.matches(of: /\n(kiosk-\d) .*changed=(\d+)/).sorted { $0.1 < $1.1 }.compactMap {
      Int($0.2)
    }
    #expect(!(ended.output + ended.error).contains(Self.secret), "\(ended.output)")
    return Played(status: ended.status, text: ended.output + ended.error, changes: changes)
  }

  /// Runs a script on each machine. Returns the outputs in the order of their names.
  @discardableResult func all(_ script: String) async throws -> [String] {
    var outputs: [String] = []
    for (_, machine) in machines.sorted(by: { $0.key < $1.key }) { outputs.append(try await machine.sh(script).output) }
    return outputs
  }

  /// Returns the recovery key that the playbook left for a machine.
  func recoveryKey(of name: String) throws -> String {
    try String(contentsOf: folder.url.appendingPathComponent("recovery/\(name)"), encoding: .utf8)
  }
}
