import Foundation
import Testing

/// The documents of the project, and their copies in the package.
@Suite struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func read(_ name: String) throws -> String {
    try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
  }

  /// The documents below a folder.
  private func documents(below folder: URL) throws -> [URL] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    #expect(names.count > 10)
    return names.map { folder.appendingPathComponent($0) }
  }

  /// The relative links of the documents that lead to no file, or to no heading of it.
  private func deadLinks(in documents: [URL]) throws -> [String] {
    try documents.flatMap { file in
      try String(contentsOf: file, encoding: .utf8)
        .matches(of: /\]\((?!https?:|\/usr\/)([^)#\s]*)(?:#([^)\s]+))?\)/)
        .filter { link in
          let target =
            link.1.isEmpty ? file : file.deletingLastPathComponent().appendingPathComponent(String(link.1)).standardized
          guard FileManager.default.fileExists(atPath: target.path) else { return true }
          guard let anchor = link.2 else { return false }
          return try !Self.anchors(of: target).contains(String(anchor))
        }
        .map { "\(file.path): \($0.0)" }
    }
  }

  /// The anchors that GitHub makes of the headings of a document.
  private static func anchors(of document: URL) throws -> Set<String> {
    var isCode = false
    var anchors: Set<String> = []
    for line in try String(contentsOf: document, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, let heading = line.prefixMatch(of: /#+ (.+)/) else { continue }
      let kept = heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
      anchors.insert(kept.replacing(" ", with: "-"))
    }
    return anchors
  }

  @Test func `Links between documents lead to files and headings that exist`() throws {
    let own = ["README.md", "CONTRIBUTING.md"].map { Self.root.appendingPathComponent($0) }
    #expect(try deadLinks(in: own) == [])
    for folder in ["Packaging", "Sources"] {
      #expect(try deadLinks(in: documents(below: Self.root.appendingPathComponent(folder))) == [])
    }
  }

  @Test("Each command in the README is run by a test, except those that build")
  func readme() throws {
    let text = try String(contentsOf: Self.root.appendingPathComponent("README.md"), encoding: .utf8)
    for block in text.matches(of: /(?m)^```(\w*)\n((?s).*?)^```/) {
      switch block.1 {
      // SystemTests type the sessions. Tests/Clients runs the programs.
      case "console", "python", "js": continue
      case "sh":
        for line in block.2.split(separator: "\n") {
          let program = Self.root.appendingPathComponent(String(line.prefix { $0 != " " })).path
          #expect(line.hasPrefix("Packaging/") && FileManager.default.isExecutableFile(atPath: program), "\(line)")
        }
      default: #expect(block.1.isEmpty && block.2.firstMatch(of: /(?m)^(#|\$)\s/) == nil, "\(block.0)")
      }
    }
    // The figures that the quick start prints about the first build.
    let script = try String(contentsOf: Self.root.appendingPathComponent("Packaging/quickstart"), encoding: .utf8)
    let figures = script.matches(of: /about \d+ minutes|\d+ MB|[\d.]+ GB/).map { String($0.0) }
    #expect(figures.count == 3)
    #expect(figures.filter { !text.contains($0) } == [])
    // The minutes of Packaging/test are those of its stages, rounded.
    let testing = try String(
      contentsOf: Self.root.appendingPathComponent("Packaging/documentation/testing.md"), encoding: .utf8)
    let stages = try ["Building", "a module", "`Integration`", "`Clients`"].map { name in
      let row = try #require(testing.split(separator: "\n").first { $0.hasPrefix("| \(name)") })
      return try #require(row.firstMatch(of: /\| (\d+)(?: in all)? \|$/).flatMap { Int($0.1) }, "\(row)")
    }
    let whole = try #require(text.firstMatch(of: /`Packaging\/test` \| about (\d+) minutes/).flatMap { Int($0.1) })
    #expect((0...4).contains(whole - stages.reduce(0, +)), "\(whole) are not \(stages)")
    // Other pages link to the figures of the README.
    for name in ["CONTRIBUTING.md", "Packaging/documentation/maintainers.md", "Packaging/documentation/testing.md"] {
      let page = try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
      #expect(figures.filter(page.contains) == [], "\(name)")
    }
  }

  @Test func `Links between installed documents lead to installed files`() throws {
    let desk = try Desk()
    let folder = desk.folder.appendingPathComponent("sdkd")
    let program = try Program(
      Self.root.appendingPathComponent("Packaging/make-documentation").path, [folder.path],
      environment: ["PATH": "/usr/bin:/bin"], output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("err"))
    #expect(program.exit(within: 60) == 0, "\(program.logText)")
    for (source, place) in [("examples", "examples"), ("ansible", "examples/ansible")] {
      try FileManager.default.copyItem(
        at: Self.root.appendingPathComponent("Packaging/\(source)"), to: folder.appendingPathComponent(place))
    }
    #expect(try deadLinks(in: documents(below: folder)) == [])
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.hasSuffix("make-rows") })
  }

  @Test("Each kind has a page with a first sign-in that the README and the indexes of the guides link to")
  func vendorPages() throws {
    let guides = "Packaging/documentation"
    for sample in KindSample.all {
      let page = sample.kind.replacing(".", with: "-") + ".md"
      #expect(try read("\(guides)/vendors/\(page)").contains("The kind is `\(sample.kind)`"))
      #expect(try read("README.md").contains("(\(guides)/vendors/\(page))"))
      #expect(try read("\(guides)/vendors/README.md").contains("(\(page))"))
    }
    for index in ["app-guide.md", "operator-guide/README.md", "phone-sdk.md"] {
      #expect(try read("\(guides)/\(index)").contains("vendors/README.md)"), "\(index)")
    }
  }

  @Test("Each call in the table of the vendors' pages exists in the JavaScript library, with its arguments")
  func vendorCalls() throws {
    let table = try read("Packaging/documentation/vendors/README.md").split(separator: "\n")
      .filter { $0.contains("`daemon.") }
    #expect(table.count == KindSample.all.count)
    #expect(KindSample.all.filter { sample in !table.contains { $0.contains("| `\(sample.kind)` |") } }.isEmpty)
    let library = try read("Packaging/clients/javascript/lib/methods.js")
    let methods = library.matches(of: /'(\w+)\.(\w+)': \{.*required: \[(.*)\] \}/)
    let interfaces = try read("Packaging/clients/javascript/methods.d.ts").components(separatedBy: "export interface ")
    for call in table.flatMap({ $0.matches(of: /`daemon\.(\w+)\.(\w+)\((.*?)\)`/) }) {
      let method = try #require(methods.first { $0.1 == call.1 && $0.2 == call.2 }, "\(call.0)")
      let parts = call.3.split(separator: "{", maxSplits: 1)
      let given = parts.first.map { $0.matches(of: /\w+/).count }
      #expect(given == method.3.matches(of: /\w+/).count, "\(call.0)")
      let name = call.1.prefix(1).uppercased() + call.1.dropFirst() + "Methods {"
      let interface = try #require(interfaces.first { $0.hasPrefix(name) }, "\(name)")
      let rest = try #require(interface.components(separatedBy: "\n  \(call.2)(").dropFirst().first, "\(call.0)")
      let declaration = rest.components(separatedBy: "): Promise")[0]
      for option in parts.dropFirst().flatMap({ $0.split(separator: ",") }) {
        let word = try #require(option.firstMatch(of: /\w+/))
        #expect(declaration.contains(" \(word.0)?: "), "\(call.0)")
      }
    }
  }

  @Test("The reference for Swift apps is made without warnings and has a page for each module")
  func reference() throws {
    let desk = try Desk()
    let folder = desk.folder.appendingPathComponent("reference")
    // `SDKD_TEST_BIN` can name programs without their modules; the folder of this test always has both.
    let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let hasModules = FileManager.default.fileExists(atPath: runner.appendingPathComponent("Modules").path)
    let built = hasModules ? runner : Program.directory
    let program = try Program(
      Self.root.appendingPathComponent("Packaging/make-reference").path, [folder.path],
      environment: ["SDKD_TEST_BIN": built.path, "TMPDIR": desk.folder.path],
      output: desk.folder.appendingPathComponent("out"), log: desk.folder.appendingPathComponent("err"))
    #expect(program.exit(within: 300) == 0, "\(program.logText)")
    for page in ["SDKClient", "SDKClientTesting"] {
      let data = try Data(
        contentsOf: folder.appendingPathComponent("data/documentation/\(page.lowercased()).json"))
      let text = String(decoding: data, as: UTF8.self)
      #expect(text.contains("\"title\":\"\(page)\""))
      let html = folder.appendingPathComponent("documentation/\(page.lowercased())/index.html").path
      #expect(FileManager.default.fileExists(atPath: html))
    }
    // The types of the contract, which SDKClient re-exports, belong to its reference.
    let method = folder.appendingPathComponent("data/documentation/sdkclient/tokenget.json").path
    #expect(FileManager.default.fileExists(atPath: method))
  }

  @Test("The pictures in sdkctl.md show what sdkctl prints on a terminal")
  func terminalPictures() throws {
    let desk = try Desk()
    let program = try Program(
      Self.root.appendingPathComponent("Packaging/make-pictures").path, ["--check", Program.directory.path],
      environment: ["PATH": "/usr/bin:/bin"], output: desk.folder.appendingPathComponent("out"),
      log: desk.folder.appendingPathComponent("err"))
    #expect(program.exit(within: 300) == 0, "\(program.logText)")
  }
}
