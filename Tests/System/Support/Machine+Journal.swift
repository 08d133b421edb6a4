import Foundation
import JSONRPC

extension Machine {
  /// Returns the matching entries of the journal, oldest first.
  func journal(_ matches: String...) async throws -> [JSON] {
    let text = try await sh("journalctl --sync; journalctl -o json --all --no-pager \(matches.joined(separator: " "))")
      .output
    return try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
  }

  /// Returns the output of `journalctl` with these arguments as soon as `isAsExpected` accepts it. Entries arrive late,
  /// so it is run again for up to a minute; then its last output is returned.
  func journal(_ arguments: String, until isAsExpected: (String) -> Bool) async throws -> String {
    try await output("journalctl --sync; journalctl --no-pager \(arguments)", until: isAsExpected)
  }

  /// Runs a shell script, which may fail, until `isAsExpected` accepts its output or a minute has passed. Returns the
  /// last output.
  func output(_ script: String, until isAsExpected: (String) -> Bool) async throws -> String {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      let text = try await run(["bash", "-c", script]).output
      if isAsExpected(text) || ContinuousClock.now > end { return text }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Returns the `MESSAGE_ID` whose text in the installed catalog has this subject.
  func messageID(_ subject: String) async throws -> String {
    try await sh("journalctl --list-catalog | sed -n 's/^\\([0-9a-f]*\\) sdkd: \(subject)$/\\1/p'").output
      .trimmingCharacters(in: .newlines)
  }
}
