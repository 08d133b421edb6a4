import JSONRPC
import SDKProtocol

/// The content of a provider's standard input (`provider.md`, "The provider").
public enum ProviderInput: String, Sendable, Codable, CaseIterable {
  /// The question as one JSON object.
  case json
  /// Empty input: end of file at once.
  case none
  /// A description of the credential in the format of git's helpers.
  case git

  /// Returns the text of a question in this form; `nil` for `json`, the question itself.
  func text(of question: BridgeQuestion) -> String? {
    switch self {
    case .json: nil
    case .none: ""
    case .git: Self.gitCredential(question)
    }
  }

  /// Returns the input of git-credential(1), "INPUT/OUTPUT FORMAT".
  private static func gitCredential(_ question: BridgeQuestion) -> String {
    var lines = ["protocol=https"]
    if let host = question.host, isValue(host) { lines.append("host=\(host)") }
    if let name = question.user?.externalId, !question.concealsExternalId, isValue(name) {
      lines.append("username=\(name)")
    }
    return lines.map { "\($0)\n" }.joined() + "\n"
  }

  /// Returns whether a text fits into a line: an id with a line break must not add a line of its own.
  private static func isValue(_ text: String) -> Bool { !text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }
}
