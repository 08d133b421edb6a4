public import JSONRPC

/// A question as the daemon sends it to a provider that is a systemd unit, and what the program there reads of it.
public enum ProviderQuestion {
  private static let standardInput = "standardInput"

  /// The question with another text for the program's standard input.
  public static func wrapping(_ question: JSON, standardInput text: String) -> JSON {
    guard var object = question.objectValue else { return question }
    object[Self.standardInput] = .string(text)
    return .object(object)
  }

  /// The bytes for the program's standard input: the text that the daemon gives, or the question as it came.
  public static func programInput(_ question: JSON, received: [UInt8]) -> [UInt8] {
    question[standardInput]?.stringValue.map { Array($0.utf8) } ?? received
  }
}
