import Foundation
import Testing

/// The sessions that a person types first, followed word by word on a booted system whose packages were purged first.
@Suite struct ReadmeTests {
  @Test(arguments: [
    (document: "README.md", section: "## From packages to a token", steps: 6),
    (document: "Packaging/documentation/operator-guide/first-instance.md", section: "## Walk through", steps: 30),
  ]) func `A person can type what the document shows and sees what it shows`(
    document: String, section: String, steps: Int
  ) async throws {
    let text = try String(contentsOf: MachineRoot.project.appendingPathComponent(document), encoding: .utf8)
    let session = ConsoleSession(section: section, of: text)
    #expect(session.steps.count >= steps)
    try await Machine.with { machine in
      try await machine.sh("dpkg --purge sdkd sdk-sandbox")
      for step in session.steps {
        let script = "cd /opt/packages; exec 2>&1\n\(step.command)"
        let ended = try await machine.run(["bash", "-euo", "pipefail", "-c", script])
        #expect(ended.status == 0 || step.mayFail, "\(step.command)\n\(ended.output)")
        #expect(step.matches(ended.output), "\(step.command)\n\(ended.output)")
        // A person types slower than the sandbox starts.
        guard step.command.hasPrefix("systemd-run") else { continue }
        try await machine.sh("until (exec 3<>/dev/tcp/127.0.0.1/8787) 2>/dev/null; do sleep 0.1; done")
      }
    }
  }

  @Test func aSessionIsReadFromADocument() {
    let text = """
      ## A
      ```console
      # no
      ```
      ## B
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
    let session = ConsoleSession(section: "## B", of: text)
    #expect(session.steps.map(\.command) == ["cat > x <<'END'\n# y\nEND", "one \\\n    two"])
    let step = session.steps[1]
    #expect(step.matches("pid 7, up 1 min 2 s\nany\nlast\n") && step.matches("pid 7,   up 10 ms\nlast\n"))
    #expect(!step.matches("pid 7, up 1 s\nlast\nmore\n") && !step.matches("pod 7, up 1 s\nlast\n"))
    #expect(!step.matches("pid 7, up 1 s\n"))
  }
}
