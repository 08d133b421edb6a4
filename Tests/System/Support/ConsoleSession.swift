import Foundation

/// A terminal session in a document: commands after a prompt, each with its output.
struct ConsoleSession {
  /// A command and the output that the document shows below it.
  struct Step: Equatable {
    var command: String
    var output: [String]
  }

  /// The steps of the session, in order.
  let steps: [Step]

  /// Reads the sessions of root (prompt `# `) in a document, one after the other.
  ///
  /// A command continues on the next line after a backslash. With `<<'END'` it continues up to the line `END`.
  init(of document: String) {
    var steps: [Step] = []
    var isInBlock = false
    var isInCommand = false
    for line in document.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
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
  /// Whether the document shows that the command fails.
  var mayFail: Bool { output.contains { $0.hasPrefix("sdkctl: ") } }

  /// Whether the printed text equals the output in the document, apart from numbers, times and ids. `…` stands for any
  /// number of lines. A command without output in the document may print anything.
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

  /// Returns a line with ids, times and numbers replaced, since they differ from run to run.
  static func masked(_ line: String) -> String {
    var line = line.replacing(/[0-9a-f]{8}(-[0-9a-f]+)+|[0-9a-f]{16,}/, with: "‹id›")
    line.replace(/(\d+(\.\d+)? (ms|s|min|h|d)\b ?)+/, with: "‹time› ")
    return line.replacing(/\d+(\.\d+)?/, with: "‹n›").split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
