import Foundation
import JSONRPC

extension Machine {
  /// The entries of the journal that match, oldest first.
  func journal(_ matches: String...) async throws -> [JSON] {
    let text = try await sh("journalctl -o json --all --no-pager \(matches.joined(separator: " "))").output
    return try text.split(separator: "\n").map { try JSONParser.parse(String($0)) }
  }

  /// The `MESSAGE_ID` whose text in the installed catalog has this subject.
  func messageID(_ subject: String) async throws -> String {
    try await sh("journalctl --list-catalog | sed -n 's/^\\([0-9a-f]*\\) sdkd: \(subject)$/\\1/p'").output
      .trimmingCharacters(in: .newlines)
  }
}
