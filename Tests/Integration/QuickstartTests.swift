import Foundation
import Testing

/// `Packaging/quickstart` with a stand-in for the compiler.
@Suite struct QuickstartTests {
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Packaging/quickstart")

  @Test("The processor time that the build has taken is counted")
  func processorTime() throws {
    let desk = try Desk()
    try desk.write("Packaging/quickstart", String(contentsOf: Self.script, encoding: .utf8), mode: 0o755)
    try desk.write("Packaging/install-dependencies", "#!/bin/sh\n", mode: 0o755)
    try desk.write(".build/debug/sdkd", "")
    // A build of some seconds; then no program, so that the script ends.
    try desk.write(
      "bin/swift",
      """
      #!/usr/bin/env python3
      import sys, time
      if "--show-bin-path" in sys.argv:
          print("/nowhere")
      else:
          while time.process_time() < 3:
              pass
      """, mode: 0o755)
    let output = desk.folder.appendingPathComponent("out")
    let program = try Program(
      desk.folder.appendingPathComponent("Packaging/quickstart").path, [],
      environment: ["PATH": "\(desk.folder.path)/bin:/usr/bin:/bin", "TMPDIR": desk.folder.path], output: output,
      log: desk.folder.appendingPathComponent("err"))
    #expect(program.exit(within: 120) != 0)
    let text = try String(contentsOf: output, encoding: .utf8)
    let time = try #require(text.firstMatch(of: /with (\d+) min (\d+) s of processor time/), "\(text)")
    #expect(try #require(Int(time.1)) * 60 + #require(Int(time.2)) >= 1, "\(text)")
  }
}
