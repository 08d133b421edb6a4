import Foundation
import Testing

/// The documents of the project, and their copies in the package.
@Suite struct DocumentationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The relative links of the documents below a folder that lead to no file.
  private func deadLinks(below folder: URL) throws -> [String] {
    let documents = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
    #expect(documents.count > 10)
    return try documents.flatMap { name in
      let file = folder.appendingPathComponent(name)
      return try String(contentsOf: file, encoding: .utf8)
        .matches(of: /\]\((?!https?:|#|\/usr\/)([^)#\s]+)(?:#[^)]*)?\)/)
        .map { String($0.output.1) }
        .filter { target in
          let path = file.deletingLastPathComponent().appendingPathComponent(target).standardized.path
          return !FileManager.default.fileExists(atPath: path)
        }
        .map { "\(name): \($0)" }
    }
  }

  @Test func `Links between documents lead to files that exist`() throws {
    for folder in ["Packaging", "Sources"] {
      #expect(try deadLinks(below: Self.root.appendingPathComponent(folder)) == [])
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
    #expect(try deadLinks(below: folder) == [])
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.hasSuffix("make-rows") })
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
