import Foundation
import Testing

/// The README's section for operators, followed word by word on a booted system whose packages were purged first.
@Suite struct ReadmeTests {
  private static let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("README.md")

  @Test func theOperatorsSectionIsTrue() async throws {
    let session = ConsoleSession(section: "## For operators", of: try String(contentsOf: Self.readme, encoding: .utf8))
    #expect(session.steps.count > 15)
    try await Machine.with { machine in
      try await machine.sh("dpkg --purge sdkd sdk-sandbox")
      for step in session.steps {
        let script = "cd /opt/packages; exec 2>&1\n\(step.command)"
        let ended = try await machine.run(["bash", "-euo", "pipefail", "-c", script])
        #expect(ended.status == 0 || step.mayFail, "\(step.command)\n\(ended.output)")
        #expect(step.matches(ended.output), "\(step.command)\n\(ended.output)")
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
