import Foundation
import JSONRPC
import Testing

/// The man pages, made as the package makes them.
@Suite struct ManualTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Runs a program to its end and expects success. Returns its standard output and its standard error.
  private func told(
    _ desk: Desk, _ path: String, _ arguments: [String], columns: Int = 80
  ) throws -> (output: String, error: String) {
    let output = desk.folder.appendingPathComponent("out-\(UUID().uuidString)")
    let program = try Program(
      path, arguments, environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "\(columns)", "PATH": "/usr/bin:/bin"],
      output: output,
      log: desk.folder.appendingPathComponent("err-\(UUID().uuidString)"))
    let status = program.exit(within: 120)
    #expect(status == 0, "\(path) \(arguments): \(program.logText)")
    return ((try? String(contentsOf: output, encoding: .utf8)) ?? "", program.logText)
  }

  /// The lines of a text, without spaces at their ends and with single blank lines, as man(1) shows them.
  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).reduce(into: []) { lines, line in
      let line = String(line.reversed().drop { $0 == " " }.reversed())
      if !line.isEmpty || lines.last?.isEmpty == false { lines.append(line) }
    }
  }

  /// The blocks of code in the sources of a page: fenced, indented by four spaces, or the help of a program.
  private static func code(of page: String, help: (String) throws -> String) throws -> [[String]] {
    let folder = root.appendingPathComponent("Packaging/man")
    let text = try String(contentsOf: folder.appendingPathComponent("\(page).md"), encoding: .utf8)
    let included = try text.matches(of: /(?m)^@(?:include|chapter) (\S+)/).map {
      try String(contentsOf: folder.appendingPathComponent(String($0.1)), encoding: .utf8)
    }
    let fenced = ([text] + included).flatMap { $0.matches(of: /(?m)^```\w*\n((?s).*?)\n```/).map { lines($0.1) } }
    let indented = ([text] + included).flatMap { $0.matches(of: /(?m)^ {4}(\S.*)/).map { [String($0.1)] } }
    return try fenced + indented.filter { line in !fenced.contains { $0.contains("    " + line[0]) } }
      + text.matches(of: /(?m)^@help (\S+)/).map { lines(try help(String($0.1)).trimmingCharacters(in: .newlines)) }
  }

  /// Whether a page shows a block line by line, behind the same indentation.
  private static func shows(_ page: [String], _ block: [String]) -> Bool {
    page.indices.contains { start in
      guard page[start].hasSuffix(block[0]), start + block.count <= page.count else { return false }
      let indentation = page[start].dropLast(block[0].count)
      return indentation.allSatisfy { $0 == " " }
        && page[start..<start + block.count].elementsEqual(block.map { $0.isEmpty ? "" : indentation + $0 })
    }
  }

  @Test("The pages are whole and well-formed, and show code as it is written")
  func pages() throws {
    let desk = try Desk()
    let folder = desk.folder.appendingPathComponent("man")
    let programs = URL(fileURLWithPath: Program.path("sdkd")).deletingLastPathComponent().path
    _ = try told(desk, Self.root.appendingPathComponent("Packaging/make-manuals").path, [programs, folder.path])
    let documents = desk.folder.appendingPathComponent("documents")
    _ = try told(desk, Self.root.appendingPathComponent("Packaging/make-documentation").path, [documents.path])
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
      let lines = Self.lines(shown.output)
      let blocks = try Self.code(of: name, help: { try told(desk, Program.path($0), ["--help"]).output })
      for block in blocks { #expect(Self.shows(lines, block), "\(name): \(block.joined(separator: "\n"))") }
      // Only code, which no width changes, may be wider than the terminal.
      let code = Set(Self.lines(try told(desk, "/usr/bin/man", ["-E", "UTF-8", "-l", page], columns: 200).output))
      let wide = lines.filter { $0.count > 80 && !code.contains($0) }
      #expect(wide.isEmpty, "\(name): \(wide)")
      let text = shown.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      pages[name] = text
      // No name is broken by a hyphen. A link names an installed file, or it is text.
      #expect(!shown.output.contains("\u{2010}"), "\(name)")
      #expect(text.matches(of: /[^\w.\/-]([\w-]+\.md|\(how\))/).map { $0.0 } == [], "\(name)")
      for path in text.matches(of: /\/usr\/share\/doc\/sdkd\/((documentation|README)[\w.\/-]*\w|examples\/[\w-]+)/) {
        let file = path.2 == nil ? "Packaging/\(path.1)" : "\(documents.path)/\(path.1)"
        #expect(
          FileManager.default.fileExists(atPath: URL(fileURLWithPath: file, relativeTo: Self.root).path), "\(path.0)")
      }
      #expect(try told(desk, "/usr/bin/mandoc", ["-Tlint", "-Wwarning", page]).output.isEmpty, "\(name)")
      #expect(try told(desk, "/usr/bin/lexgrog", [page]).output.contains(" - "), "\(name)")
    }
    let help = try JSONParser.parse(try told(desk, Program.path("sdkctl"), ["--experimental-dump-help"]).output)
    // A verb for programs alone is on no list.
    let shown = (help["command"]?["subcommands"]?.arrayValue ?? []).filter { $0["shouldDisplay"] != false }
    let verbs = shown.compactMap { $0["commandName"]?.stringValue }.filter { $0 != "help" }
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
