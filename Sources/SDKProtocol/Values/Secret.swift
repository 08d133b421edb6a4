/// A text that must not be seen: a token, a key, a password.
///
/// It prints as `‹secret›` wherever it is interpolated, dumped or mirrored. Only `reveal()` gives the text, and it
/// is called where the secret goes on the wire, into a sealed row or to a provider's standard input.
public struct Secret: Sendable, Hashable {
  private let text: String

  /// Keeps a text secret.
  public init(_ text: String) { self.text = text }

  /// The text itself.
  public func reveal() -> String { text }

  /// True for an empty text.
  public var isEmpty: Bool { text.isEmpty }

  /// Equal in a time that does not depend on where the texts differ.
  public static func == (one: Secret, other: Secret) -> Bool {
    let a = Array(one.text.utf8)
    let b = Array(other.text.utf8)
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "‹secret›" }
  public var debugDescription: String { "‹secret›" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Coded as its text: only on the wire and into sealed rows.
extension Secret: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
