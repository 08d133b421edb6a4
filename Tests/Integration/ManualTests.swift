import Foundation
import JSONRPC
import Testing

/// The man pages, made as the package makes them.
@Suite struct ManualTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Runs a program to its end and expects success. Returns its standard output and its standard error.
  private func told(_ desk: Desk, _ path: String, _ arguments: [String]) throws -> (output: String, error: String) {
    let output = desk.folder.appendingPathComponent("out-\(UUID().uuidString)")
    let program = try Program(
      path, arguments, environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "80", "PATH": "/usr/bin:/bin"], output: output,
      log: desk.folder.appendingPathComponent("err-\(UUID().uuidString)"))
    let status = program.exit(within: 120)
    #expect(status == 0, "\(path) \(arguments): \(program.logText)")
    return ((try? String(contentsOf: output, encoding: .utf8)) ?? "", program.logText)
  }

  @Test func thePagesAreWholeAndWellFormed() throws {
    let desk = try Desk()
    let folder = desk.folder.appendingPathComponent("man")
    let programs = URL(fileURLWithPath: Program.path("sdkd")).deletingLastPathComponent().path
    _ = try told(desk, Self.root.appendingPathComponent("Packaging/make-manuals").path, [programs, folder.path])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(
      names == [
        "sdk-sandbox.1", "sdkctl.1", "sdkd-app.7", "sdkd-operator.7", "sdkd-protocol.7", "sdkd-provider.7", "sdkd.8",
        "sdkd.toml.5",
      ])
    var pages: [String: String] = [:]
    for name in names {
      let page = folder.appendingPathComponent(name).path
      // Checks the page as lintian does.
      let shown = try told(desk, "/usr/bin/man", ["--warnings", "-E", "UTF-8", "-l", page])
      #expect(shown.error.isEmpty, "\(name): \(shown.error)")
      let wide = shown.output.split(separator: "\n").filter { $0.count > 80 }
      #expect(wide.isEmpty, "\(name): \(wide)")
      pages[name] = shown.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(try told(desk, "/usr/bin/mandoc", ["-Tlint", "-Wwarning", page]).output.isEmpty, "\(name)")
      #expect(try told(desk, "/usr/bin/lexgrog", [page]).output.contains(" - "), "\(name)")
    }
    let help = try JSONParser.parse(try told(desk, Program.path("sdkctl"), ["--experimental-dump-help"]).output)
    let verbs = (help["command"]?["subcommands"]?.arrayValue ?? []).compactMap { $0["commandName"]?.stringValue }
      .filter { $0 != "help" }
    #expect(verbs.count > 20)
    for verb in verbs { #expect(pages["sdkctl.1"]?.contains("sdkctl \(verb) ") == true, "\(verb)") }
    let document = try JSONParser.parse(try told(desk, Program.path("sdkd"), ["--openrpc"]).output)
    for method in document["methods"]?.arrayValue ?? [] {
      let name = method["name"]?.stringValue ?? "?"
      #expect(pages["sdkd-protocol.7"]?.contains(" \(name) ") == true, "\(name)")
    }
    for kind in document["x-kinds"]?.arrayValue ?? [] {
      for key in kind["settings"]?["properties"]?.objectValue?.keys ?? [] {
        #expect(pages["sdkd.toml.5"]?.contains(" \(key) (") == true, "\(key)")
      }
    }
    for key in ["[access]", "admins (", "max_concurrent (", "retention (", "on_remove ("] {
      #expect(pages["sdkd.toml.5"]?.contains(key) == true, "\(key)")
    }
  }
}
