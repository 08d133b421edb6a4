import Foundation
import JSONRPC

extension Machine {
  /// The entries of the journal that match, oldest first.
  func journal(_ matches: String...) async throws -> [JSON] {
    let text = try await sh("journalctl --sync; journalctl -o json --all --no-pager \(matches.joined(separator: " "))")
      .output
    return try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
  }

  /// What `journalctl` prints with these arguments, once it is as expected: what programs, systemd and the journal write
  /// takes its way. After a minute, whatever it is.
  func journal(_ arguments: String, until isAsExpected: (String) -> Bool) async throws -> String {
    try await output("journalctl --sync; journalctl --no-pager \(arguments)", until: isAsExpected)
  }

  /// What a shell script prints, again and again until it is as expected, for a minute; it may fail.
  func output(_ script: String, until isAsExpected: (String) -> Bool) async throws -> String {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      let text = try await run(["bash", "-c", script]).output
      if isAsExpected(text) || ContinuousClock.now > end { return text }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// The `MESSAGE_ID` whose text in the installed catalog has this subject.
  func messageID(_ subject: String) async throws -> String {
    try await sh("journalctl --list-catalog | sed -n 's/^\\([0-9a-f]*\\) sdkd: \(subject)$/\\1/p'").output
      .trimmingCharacters(in: .newlines)
  }
}
