import JSONRPC

/// The member `error` of a response: `code:arguments:words`. Servers may leave parts out.
struct BayeuxError: Sendable, Hashable {
  /// The code of three digits.
  var code: String?
  /// The description, at most 512 bytes.
  var description: String

  /// Reads the error of an unsuccessful response.
  init(_ answer: JSON) {
    let text = (answer["error"]?.stringValue ?? "").clipped(toUTF8: 1024)
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    if let first = parts.first, first.utf8.count == 3, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      code = String(first)
      description = String(parts.count > 1 ? parts[parts.count - 1] : "").clipped(toUTF8: 512)
    } else {
      description = text.clipped(toUTF8: 512)
    }
  }

  /// The code and the description in one line.
  var words: String { [code, description].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ") }
}
