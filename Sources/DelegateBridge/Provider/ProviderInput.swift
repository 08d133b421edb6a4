import JSONRPC
import SDKProtocol

/// What a provider reads on standard input (`provider.md`, "The provider").
public enum ProviderInput: String, Sendable, Codable, CaseIterable {
  /// The question as one JSON object.
  case json
  /// Nothing: the end of the file at once.
  case none
  /// A description of the credential as git's helpers read it.
  case git

  /// The text of a question in this form; `nil` for the question itself.
  func text(of question: BridgeQuestion) -> String? {
    switch self {
    case .json: nil
    case .none: ""
    case .git: Self.gitCredential(question)
    }
  }

  /// git-credential(1), "INPUT/OUTPUT FORMAT".
  private static func gitCredential(_ question: BridgeQuestion) -> String {
    var lines = ["protocol=https"]
    if let host = question.host, isValue(host) { lines.append("host=\(host)") }
    if let name = question.user?.externalId, !question.concealsExternalId, isValue(name) {
      lines.append("username=\(name)")
    }
    return lines.map { "\($0)\n" }.joined() + "\n"
  }

  /// Whether a text fits into a line: an id with a line break in it must not add a line of its own.
  private static func isValue(_ text: String) -> Bool { !text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }
}
