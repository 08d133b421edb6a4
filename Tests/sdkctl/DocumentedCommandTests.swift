import ArgumentParser
import Foundation
import Testing

@testable import sdkctl

/// The command lines in the documents.
struct DocumentedCommandTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The words that stand for others in the documents.
  private static let places = [
    "ID": "front-desk", "HOST": "root@host", "VERB": "list", "RULE": "user:kiosk", "--access-ROLE": "--access-use",
  ]

  /// Returns the lines that a document sets as commands of `sdkctl`: between backquotes in a sentence, or at the start of
  /// a line of a code block.
  private static func commands(in document: String) -> [String] {
    var commands: [String] = []
    var prose = ""
    var isCode = false
    for line in document.split(separator: "\n") {
      if line.hasPrefix("```") {
        isCode.toggle()
      } else if isCode {
        let text = line.drop { "#$ ".contains($0) }
        if text.hasPrefix("sdkctl "), !text.hasSuffix("\\") { commands.append(String(text)) }
      } else {
        prose += line.drop { $0 == " " } + " "
      }
    }
    return commands + prose.matches(of: /`(sdkctl [^`]+)`/).map { String($0.1) }
  }

  @Test("Each command of sdkctl in a document is one that sdkctl takes")
  func commands() throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appendingPathComponent("Packaging").path)
    let documents = ["README.md", "CONTRIBUTING.md"] + names.filter { $0.hasSuffix(".md") }.map { "Packaging/\($0)" }
    var count = 0
    for name in documents {
      let text = try String(contentsOf: Self.root.appendingPathComponent(name), encoding: .utf8)
      for command in Self.commands(in: text) where !command.contains("…") {
        let words = command.shellWords.dropFirst().map { Self.places[$0] ?? $0 }
        let line = CommandLineOrder.normalized(Array(words))
        #expect(throws: Never.self, "\(name): \(command)") {
          do { _ = try CommandRoot.parseAsRoot(line) } catch {
            // Help and the list of a group's verbs are errors of the parser, too. A sentence can name a verb alone.
            let isWhole = !CommandRoot.message(for: error).hasPrefix("Missing ")
            guard CommandRoot.exitCode(for: error).isSuccess || !isWhole else { throw error }
          }
        }
        count += 1
      }
    }
    #expect(count > 200)
  }
}
