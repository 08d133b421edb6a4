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
    try FileManager.default.copyItem(
      at: Self.root.appendingPathComponent("Packaging/examples"), to: folder.appendingPathComponent("examples"))
    #expect(try deadLinks(below: folder) == [])
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.hasSuffix("make-rows") })
  }
}
