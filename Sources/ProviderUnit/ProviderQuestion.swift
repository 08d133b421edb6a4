public import JSONRPC

/// The form of a question for a provider that is a systemd unit, and the input of the program in the unit.
public enum ProviderQuestion {
  private static let standardInput = "standardInput"

  /// Returns the question with a separate text for the program's standard input.
  public static func wrapping(_ question: JSON, standardInput text: String) -> JSON {
    guard var object = question.objectValue else { return question }
    object[Self.standardInput] = .string(text)
    return .object(object)
  }

  /// Returns the bytes for the program's standard input: the separate text if there is one, else the received question.
  public static func programInput(_ question: JSON, received: [UInt8]) -> [UInt8] {
    question[standardInput]?.stringValue.map { Array($0.utf8) } ?? received
  }
}
