/// A desk inside a machine: the sandbox in the role of the vendor, and instances that use it.
extension Machine {
  /// The settings of an instance that uses the sandbox, as arguments of `sdkctl create`.
  static let settings =
    "--kind zendesk.messaging --setting base_url=http://127.0.0.1:8787/zm"
    + " --setting app_id=5f0000000000000000000001 --setting refresh.min_interval=0"

  /// The script that starts the sandbox as a unit of its own, and waits until it listens.
  static let sandbox = """
    systemd-run --quiet --unit=sandbox /usr/bin/sdk-sandbox --port 8787
    until (exec 3<>/dev/tcp/127.0.0.1/8787) 2>/dev/null; do sleep 0.05; done
    """

  /// Starts the sandbox.
  func startSandbox() async throws { try await sh(Self.sandbox) }

  /// Creates an instance that uses the sandbox and signs a user in.
  ///
  /// - Parameters:
  ///   - options: further options of `sdkctl create`.
  ///   - sdkctl: the command, with the options that select the daemon.
  func signIn(_ user: String, at instance: String, _ options: String = "", sdkctl: String = "sdkctl") async throws {
    try await sh(
      """
      \(sdkctl) create \(instance) \(Self.settings) \(options) > /dev/null
      sdk-sandbox mint --external-id \(user) | \(sdkctl) login \(instance) > /dev/null
      """)
  }

  /// Creates a user whose service manager runs, and returns the prefix for commands run as that user.
  func user(_ name: String) async throws -> String {
    let uid =
      try await sh("useradd --create-home \(name); loginctl enable-linger \(name); id -u \(name)").output
      .split(separator: "\n").last ?? ""
    try await eventually("the user's manager runs", "test -S /run/user/\(uid)/bus")
    let directory = "/run/user/\(uid)"
    return "runuser -u \(name) -- env XDG_RUNTIME_DIR=\(directory) DBUS_SESSION_BUS_ADDRESS=unix:path=\(directory)/bus"
  }
}
