import JSONRPC
import SDKProtocol

/// The `key=value` lines of git's credential helpers.
enum GitCredentialOutput {
  /// The longest name of a line that is read, in bytes. git knows no longer one, so lines with longer names are
  /// skipped.
  private static let longestName = 64

  static func parse(_ text: ArraySlice<UInt8>, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    guard String(validating: text, as: UTF8.self) != nil else { throw .output("wrote what is not UTF-8") }
    var values: [String: String] = [:]
    // Split as bytes: in a `String` a carriage return and a line feed are one character.
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      // An empty line ends a helper's output.
      if line.isEmpty { break }
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
        throw .output("wrote a line without =; the format git-credential has key=value lines")
      }
      guard equals - line.startIndex <= longestName else { continue }
      values[String(decoding: line[..<equals], as: UTF8.self)] = String(decoding: line[(equals + 1)...], as: UTF8.self)
    }
    if let quit = values["quit"], ["1", "true"].contains(where: quit.hasSameBytes) { throw .denied("it wrote quit") }
    guard let password = values["password"] else {
      throw .output("wrote no password; a helper that doesn't know exits with 75 for later or 77 for no")
    }
    var expiry: JSON?
    if let seconds = values["password_expiry_utc"] {
      guard let number = Int(seconds) else { throw .output("wrote a password_expiry_utc that is not in seconds") }
      expiry = JSON(number)
    }
    var answer = try OutputFormat.answer(
      token: password, expiresAt: expiry, format: .gitCredential, question)
    answer.members["refreshToken"] = values["oauth_refresh_token"].map(JSON.string)
    return answer
  }
}
