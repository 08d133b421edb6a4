import Foundation
import Testing

/// The sessions that a person types first, followed word by word on a booted system. Documents that install the packages find
/// none.
@Suite struct ReadmeTests {
  /// A document with sessions, and where its reader stands.
  struct Document: CustomTestStringConvertible {
    let path: String
    /// The least number of commands.
    let steps: Int
    var directory = "/opt/packages"
    /// Whether the document installs the packages. Others begin with installed ones.
    var installs = true
    /// The heading of the section to follow; `nil` for the whole document.
    var section: String?

    var testDescription: String { path }

    static let firstInstance = Document(path: "Packaging/documentation/operator-guide/first-instance.md", steps: 30)
    /// The page that removes what the first instance, and tenants, have made.
    static let remove = Document(path: "Packaging/documentation/operator-guide/remove.md", steps: 14)

    static let all =
      [
        // A checkout whose packages are built.
        Document(path: "README.md", steps: 12, directory: "/root/sdkd"),
        firstInstance,
        Document(
          path: "Packaging/documentation/browser.md", steps: 12, installs: false, section: "Try it with the sandbox"),
      ]
      + vendors.map { Document(path: "Packaging/documentation/vendors/\($0)", steps: 15, installs: false) }

    /// The pages with a first sign-in, one for each kind.
    private static let vendors: [String] = {
      let folder = MachineRoot.project.appendingPathComponent("Packaging/documentation/vendors").path
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted()
    }()

    /// Returns the text to follow.
    func text() throws -> String {
      let file = MachineRoot.project.appendingPathComponent(path)
      let text = try String(contentsOf: file, encoding: .utf8)
      guard let section else { return text }
      let rest = text.components(separatedBy: "\n## \(section)\n").dropFirst().joined()
      return rest.components(separatedBy: "\n## ")[0]
    }
  }

  /// The ports of the servers that the documents start, by the unit.
  private static let ports = ["sandbox": 8787, "backend": 8788, "site": 8789]

  @Test(arguments: Document.all) func `A person can type what the document shows and sees what it shows`(
    document: Document
  ) async throws {
    try await Machine.with { machine in
      try await machine.sh(
        """
        \(document.installs ? "dpkg --purge webext-sdkd sdkd sdk-sandbox" : ":")
        mkdir -p /root/sdkd/.build/deb
        ln -s /opt/packages /root/sdkd/.build/deb/packages
        """)
      try await follow(document, on: machine)
    }
  }

  /// Types the commands of a document, and compares what they print.
  private func follow(_ document: Document, on machine: Machine) async throws {
    let session = ConsoleSession(of: try document.text())
    #expect(session.steps.count >= document.steps)
    try await machine.sh("echo \(document.directory) >/root/directory")
    for step in session.steps {
      let script = """
        cd "$(cat /root/directory)"
        trap 'pwd >/root/directory' EXIT
        exec 2>&1
        \(step.command)
        """
      let ended = try await machine.run(["bash", "-euo", "pipefail", "-c", script])
      #expect(ended.status == 0 || step.mayFail, "\(step.command)\n\(ended.output)")
      #expect(step.matches(ended.output), "\(step.command)\n\(ended.output)")
      // A person types slower than a server starts.
      guard let started = step.command.prefixMatch(of: /systemd-run .*--unit=(\w+)/) else { continue }
      let port = try #require(Self.ports[String(started.1)], "\(step.command)")
      try await machine.sh("until (exec 3<>/dev/tcp/127.0.0.1/\(port)) 2>/dev/null; do sleep 0.1; done")
    }
  }

  @Test("The page about removal leaves nothing of the first instance and of tenants")
  func removal() async throws {
    try await Machine.with { machine in
      try await machine.sh("dpkg --purge webext-sdkd sdkd sdk-sandbox python3-sdkd golang-sdkd-dev")
      try await follow(.firstInstance, on: machine)
      try await machine.sh(
        """
        for tenant in acme beta; do
          install -d -m 750 -g sdkd-tenants /etc/sdkd-tenants/$tenant /etc/sdkd-tenants/$tenant/instances.d
          systemctl enable --now sdkd@$tenant.socket sdkd@$tenant.service
          sdkctl --tenant $tenant status
        done
        mkdir /etc/systemd/system/sdkd.service.d
        printf '[Service]\\nMemoryHigh=900M\\n' >/etc/systemd/system/sdkd.service.d/memory.conf
        echo '{}' >/etc/sdkd/browser.json
        systemctl daemon-reload
        """)
      try await follow(.remove, on: machine)
      let left = try await machine.sh(
        """
        find / -xdev \\( -path /opt -o -path /proc -o -path /sys \\) -prune -o \
          \\( -name '*sdk-sandbox*' -o -name '*sdkd*' -o -name '*front-desk*' \\) -print
        find /run -maxdepth 1 -name 'sdkd*'
        systemctl list-units --state=active,activating --no-legend --plain 'sdkd*'
        """)
      #expect(left.output == "")
    }
  }

  @Test func aSessionIsReadFromADocument() {
    let text = """
      ## A
      ```toml
      # no = 1
      ```
      ```console
      # cat > x <<'END'
      # y
      END
      # one \\
          two
      pid 12, up 3 s
      …
      last
      ```
      """
    let session = ConsoleSession(of: text)
    #expect(session.steps.map(\.command) == ["cat > x <<'END'\n# y\nEND", "one \\\n    two"])
    let step = session.steps[1]
    #expect(step.matches("pid 7, up 1 min 2 s\nany\nlast\n") && step.matches("pid 7,   up 10 ms\nlast\n"))
    #expect(!step.matches("pid 7, up 1 s\nlast\nmore\n") && !step.matches("pod 7, up 1 s\nlast\n"))
    #expect(!step.matches("pid 7, up 1 s\n"))
    let uuid = "p-5d5b55a4-6fbe-40ed-abd6-def8a20df549"
    #expect(ConsoleSession.Step(command: "", output: [uuid]).matches("p-c1936753-4949-4a82-892a-d4235240372b"))
  }
}
