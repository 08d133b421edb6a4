import Foundation
import Testing

/// `Packaging/quickstart` with a stand-in for the compiler.
@Suite struct QuickstartTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Returns a desk with the files of the quick start.
  ///
  /// - Parameter compiler: the program `swift`.
  private func prepared(compiler: String) throws -> Desk {
    let desk = try Desk()
    let parts = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appendingPathComponent("Packaging/quickstart.d").path)
    for name in ["quickstart"] + parts.map({ "quickstart.d/\($0)" }) {
      let file = Self.root.appendingPathComponent("Packaging/\(name)")
      try desk.write("Packaging/\(name)", String(contentsOf: file, encoding: .utf8), mode: 0o755)
    }
    try desk.write("Packaging/install-dependencies", "#!/bin/sh\n", mode: 0o755)
    try desk.write(".build/debug/sdkd", "")
    try desk.write("bin/swift", compiler, mode: 0o755)
    return desk
  }

  private func run(_ desk: Desk, _ program: String, _ arguments: [String]) throws -> (status: Int32?, output: String) {
    let output = desk.folder.appendingPathComponent("out-\(UUID().uuidString)")
    let program = try Program(
      program, arguments,
      environment: ["PATH": "\(desk.folder.path)/bin:/usr/bin:/bin", "TMPDIR": desk.folder.path], output: output,
      log: desk.folder.appendingPathComponent("err-\(UUID().uuidString)"))
    let status = program.exit(within: 120)
    return (status, try String(contentsOf: output, encoding: .utf8) + program.logText)
  }

  private func quickstart(_ desk: Desk, _ options: String...) throws -> (status: Int32?, output: String) {
    try run(desk, desk.folder.appendingPathComponent("Packaging/quickstart").path, options)
  }

  /// A stand-in that finds the programs built already.
  private static let built = "#!/bin/sh\necho '\(Program.directory.path)'\n"

  @Test("The quick start shows what the README says it prints")
  func theMainJob() throws {
    let ended = try quickstart(try prepared(compiler: Self.built))
    #expect(ended.status == 0, "\(ended.output)")
    /// Returns the lines without what differs from run to run.
    func lines(_ text: some StringProtocol) -> [String] {
      text.split(separator: "\n").map { line in
        String(line).replacing(/\b[0-9a-f]{16}\b|\d+/, with: "#").split(whereSeparator: \.isWhitespace)
          .joined(separator: " ")
      }
    }
    let readme = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    let shown = lines(try #require(readme.firstMatch(of: /```\n(--- (?s).*?)```/)?.1))
    let printed = lines(ended.output)
    #expect(shown.count == 8 && shown.filter { !printed.contains($0) } == [], "\(ended.output)")
    #expect(printed.last?.hasPrefix("Done. Nothing is left running") == true)
  }

  @Test("The quick start signs a user in with each kind")
  func allKinds() throws {
    let ended = try quickstart(try prepared(compiler: Self.built), "--all")
    #expect(ended.status == 0, "\(ended.output)")
    for sample in KindSample.all { #expect(ended.output.contains(sample.kind), "\(ended.output)") }
  }

  @Test("The commands that --keep prints work, and the last one leaves nothing running")
  func commandsToTry() throws {
    let desk = try prepared(compiler: Self.built)
    let ended = try quickstart(desk, "--keep")
    #expect(ended.status == 0, "\(ended.output)")
    let lines = ended.output.split(separator: "\n").drop { !$0.hasPrefix("    export SDKD_SOCKET=") }
      .filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4).prefix { $0 != "#" } }
    let end = String(try #require(lines.last))
    #expect(end.hasPrefix("kill ") && lines.count == 8, "\(lines)")
    // This one follows until Ctrl-C.
    let commands = lines.dropLast().filter { !$0.contains("--follow") }
    let tried = try run(desk, "/bin/sh", ["-exc", commands.joined(separator: "\n")])
    #expect(tried.status == 0 && tried.output.contains("front-desk"), "\(tried.output)")
    let stopped = try run(desk, "/bin/sh", ["-exc", end])
    #expect(stopped.status == 0, "\(stopped.output)")
    for process in end.matches(of: /\d+(?=[ ;])/).compactMap({ pid_t($0.0) }) {
      // A process that nobody has waited for has no program either.
      try eventually("process \(process) ends") {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")) == nil
      }
    }
  }

  @Test("The processor time that the build has taken is counted")
  func processorTime() throws {
    // A build of some seconds; then no program, so that the script ends.
    let desk = try prepared(
      compiler: """
        #!/usr/bin/env python3
        import sys, time
        if "--show-bin-path" in sys.argv:
            print("/nowhere")
        else:
            while time.process_time() < 3:
                pass
        """)
    let ended = try quickstart(desk)
    #expect(ended.status != 0)
    let time = try #require(ended.output.firstMatch(of: /with (\d+) min (\d+) s of processor time/), "\(ended.output)")
    #expect(try #require(Int(time.1)) * 60 + #require(Int(time.2)) >= 1, "\(ended.output)")
  }
}
