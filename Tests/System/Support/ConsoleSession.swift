import Foundation

/// A terminal session as a document shows it: commands after a prompt, and what they print.
struct ConsoleSession {
  /// A command and the lines that the document shows below it.
  struct Step: Equatable {
    var command: String
    var output: [String]
  }

  /// Its steps, in order.
  let steps: [Step]

  /// The sessions of root (`# `) in a section of a document, one after the other.
  ///
  /// A command goes on in the next line after a backslash, and up to `END` where it has `<<'END'`.
  init(section heading: String, of document: String) {
    var steps: [Step] = []
    var isInSection = false
    var isInBlock = false
    var isInCommand = false
    for line in document.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("## ") { isInSection = line == heading }
      guard isInSection else { continue }
      if line.hasPrefix("```") {
        isInBlock = line == "```console"
        isInCommand = false
      } else if isInBlock, isInCommand {
        steps[steps.count - 1].command += "\n" + line
        isInCommand = Self.goesOn(steps[steps.count - 1].command)
      } else if isInBlock, line.hasPrefix("# ") {
        steps.append(Step(command: String(line.dropFirst(2)), output: []))
        isInCommand = Self.goesOn(steps[steps.count - 1].command)
      } else if isInBlock, !steps.isEmpty {
        steps[steps.count - 1].output.append(line)
      }
    }
    self.steps = steps
  }

  private static func goesOn(_ command: String) -> Bool {
    command.hasSuffix("\\") || command.contains("<<'END'") && !command.hasSuffix("\nEND")
  }
}

extension ConsoleSession.Step {
  /// Whether the document shows that it is refused.
  var mayFail: Bool { output.contains { $0.hasPrefix("sdkctl: ") } }

  /// Whether what was printed is what the document shows, but for numbers, times and ids. `…` stands for any lines; a
  /// command without lines below it may print anything.
  func matches(_ printed: String) -> Bool {
    guard !output.isEmpty else { return true }
    var rest = printed.split(separator: "\n").map { Self.masked(String($0)) }[...]
    var mayLeaveOut = false
    for line in output {
      if line == "…" {
        mayLeaveOut = true
        continue
      }
      let wanted = Self.masked(line)
      guard let place = mayLeaveOut ? rest.firstIndex(of: wanted) : rest.indices.first, rest[place] == wanted else {
        return false
      }
      rest = rest[(place + 1)...]
      mayLeaveOut = false
    }
    return mayLeaveOut || rest.isEmpty
  }

  /// A line without what differs from run to run.
  static func masked(_ line: String) -> String {
    line.replacing(/[0-9a-f]{16,}/, with: "‹id›").replacing(/(\d+(\.\d+)? (ms|s|min|h|d)\b ?)+/, with: "‹time› ")
      .replacing(/\d+(\.\d+)?/, with: "‹n›").split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
