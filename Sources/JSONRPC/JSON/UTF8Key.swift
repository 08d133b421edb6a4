internal import Glibc

/// A text that equals another only if both have the same UTF-8 bytes.
///
/// Swift's own equality follows Unicode's canonical equivalence, which merges names that a peer considers different.
public struct UTF8Key: Sendable, Hashable {
  /// The text.
  public let text: String

  /// Makes a key from a text.
  public init(_ text: String) { self.text = text }

  public static func == (one: UTF8Key, other: UTF8Key) -> Bool { one.text.hasSameBytes(as: other.text) }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}

extension UTF8Key: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}

extension String {
  /// Returns whether both texts have the same UTF-8 bytes.
  public func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // Compares buffers, because a string's UTF-8 view makes a call for each byte.
    let isSame = utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { two in
        guard let first = one.baseAddress, let second = two.baseAddress else { return true }
        return memcmp(first, second, one.count) == 0
      }
    }
    return isSame.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
  }
}

extension String? {
  /// Returns whether both texts have the same UTF-8 bytes, or both are `nil`.
  public func hasSameBytes(as other: String?) -> Bool { map { UTF8Key($0) } == other.map { UTF8Key($0) } }
}

extension [String: String] {
  /// Returns whether this has all members of another dictionary. Names and values compare as UTF-8 bytes.
  public func includes(_ others: [String: String]) -> Bool {
    others.allSatisfy { other in
      guard let index = index(forKey: other.key) else { return false }
      return self[index].key.hasSameBytes(as: other.key) && self[index].value.hasSameBytes(as: other.value)
    }
  }

  /// Returns whether both have the same members. Names and values compare as UTF-8 bytes.
  public func hasSameBytes(as other: [String: String]) -> Bool { count == other.count && includes(other) }
}

/// Makes texts in a `Hashable` type compare as UTF-8 bytes, names and values alike.
@propertyWrapper
public struct UTF8Texts: Sendable, Hashable, Encodable {
  /// The texts by name.
  public var wrappedValue: [String: String]

  /// Creates the wrapper of these texts.
  public init(wrappedValue: [String: String]) { self.wrappedValue = wrappedValue }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }

  public static func == (one: UTF8Texts, other: UTF8Texts) -> Bool {
    one.wrappedValue.hasSameBytes(as: other.wrappedValue)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(Set(wrappedValue.keys.map { UTF8Key($0) })) }
}

extension String {
  /// Returns the longest prefix of whole Unicode scalars that has at most `count` bytes in UTF-8.
  ///
  /// Unlike `prefix(_:)`, which counts characters, it bounds the size: a single character can have any number of bytes.
  public func clipped(toUTF8 count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: Swift.max(0, count))
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end])
  }
}
