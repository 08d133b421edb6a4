import JSONRPC
import SDKProtocol

/// A filter that takes the users of the daemon's instances out of texts.
///
/// Texts of the daemon hold no secret, but may name the signed-in user, as a vendor's error does.
struct BundleMask {
  /// The replacement for a user's id, name or address.
  static let mark = "‹user›"

  private let words: Set<ArraySlice<UInt8>>
  /// The lengths of the words, longest first.
  private let lengths: [Int]

  /// Creates a filter for the users of instances, as `instance.list` returns these, and for further ids.
  init(instances: [JSON], ids: [String] = []) {
    let users = instances.flatMap { instance in
      let services = instance["services"]?.objectValue?.members.compactMap { $0.value["user"] } ?? []
      return services + [instance["user"]].compactMap(\.self)
    }
    let texts = users.flatMap { user in ["id", "externalId", "name", "email"].compactMap { user[$0]?.stringValue } }
    words = Set((texts + ids).flatMap { [Array($0.utf8), Self.inURL($0)] }.map { $0.map(Self.folded)[...] })
      .subtracting([[]])
    lengths = Set(words.map(\.count)).sorted(by: >)
  }

  /// Returns a text without the users. A user is found where neither a letter nor a digit continues it, in capital and
  /// in small letters.
  func masked(_ text: String) -> String {
    guard !lengths.isEmpty else { return text }
    let bytes = Array(text.utf8)
    let folded = bytes.map(Self.folded)
    // Whether each byte belongs to a letter or a digit.
    let letters = text.unicodeScalars.flatMap { scalar in
      repeatElement(scalar.properties.isAlphabetic || scalar.properties.numericType != nil, count: UTF8.width(scalar))
    }
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if Self.isEdge(index, letters), let length = lengths.first(where: { isUser(folded, letters, index, $0) }) {
        result += Array(Self.mark.utf8)
        index += length
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns a value whose texts are without the users.
  func masked(_ json: JSON) -> JSON {
    switch json {
    case .string(let text): .string(masked(text))
    case .array(let elements): .array(elements.map(masked))
    case .object(let object): .object(JSONObject(object.members.map { ($0.key, masked($0.value)) }))
    default: json
    }
  }

  private func isUser(_ bytes: [UInt8], _ letters: [Bool], _ start: Int, _ length: Int) -> Bool {
    let end = start + length
    return end <= bytes.count && Self.isEdge(end, letters) && words.contains(bytes[start..<end])
  }

  /// Whether a word can begin or end before the byte at an index.
  private static func isEdge(_ index: Int, _ letters: [Bool]) -> Bool {
    index == 0 || index == letters.count || !letters[index - 1] || !letters[index]
  }

  /// Returns a text as a URL has it in its path or query (RFC 3986, section 2.1).
  private static func inURL(_ text: String) -> [UInt8] {
    text.utf8.flatMap { byte -> [UInt8] in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(folded(byte)) || "-._~".utf8.contains(byte)
      if isPlain { return [byte] }
      let digits = String(byte, radix: 16)
      return Array("%\(digits.count == 1 ? "0" : "")\(digits)".utf8)
    }
  }

  /// Returns an ASCII letter as a small one.
  private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
