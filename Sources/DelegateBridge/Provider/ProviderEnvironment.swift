import JSONRPC
import ProviderUnit
import SDKProtocol

/// The environment variables of a provider: few, and none that affects systemd or the dynamic linker.
enum ProviderEnvironment {
  private static let refusedNames: Set<String> = ["NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY", "JOURNAL_STREAM"]
  private static let refusedPrefixes = ["LISTEN_", "WATCHDOG_", "LD_", "SDKD_"]
  private static let standardPath = "/usr/local/bin:/usr/bin:/bin"

  /// Returns why a configuration may not name this variable, as a sentence; `nil` if it may.
  static func problem(ofName name: String) -> String? {
    let isWord = name.unicodeScalars.allSatisfy { scalar in
      scalar == "_" || ("0"..."9").contains(scalar) || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }
    guard isWord, let first = name.utf8.first, !(0x30...0x39).contains(first) else {
      return "\(name.prefix(64).debugDescription) is no name of a variable; use letters, digits and underscores."
    }
    if refusedNames.contains(name) || refusedPrefixes.contains(where: { name.hasPrefix($0) }) {
      return "The variable \(name.prefix(64)) belongs to the daemon and can't be given to a provider."
    }
    return nil
  }

  /// Returns the complete environment of a run.
  static func make(
    _ provider: ProviderConfiguration, _ question: JSON, inherited: [String: String]
  ) -> [String: String] {
    var all = ["PATH": inherited["PATH"] ?? standardPath]
    for name in ["LANG", "HOME"] + provider.passEnvironment where problem(ofName: name) == nil {
      all[name] = inherited[name]
    }
    for (name, value) in provider.environment where problem(ofName: name) == nil { all[name] = value }
    all.merge(QuestionVariables.make(question)) { $1 }
    return all.filter { !$0.value.utf8.contains(0) }
  }
}

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
