import JSONRPC

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The secrets of a request to a vendor. The vendor's answer may repeat them, so its texts are read through them.
public struct SentSecrets: Sendable, Hashable {
  private let secrets: [Secret]

  /// No secrets.
  public static let none = SentSecrets([])

  /// The number of bytes from which a part of a secret is masked too. Vendors shorten what they repeat.
  private static let part = 12

  /// Creates the secrets of a request.
  public init(_ secrets: [Secret]) { self.secrets = secrets }

  /// The size of the longest secret in bytes; 0 for none.
  public var longest: Int { secrets.map { $0.reveal().utf8.count }.max() ?? 0 }

  /// The number of times that what is left of a text is masked: a mark may end an escape, after which the rest reads
  /// differently.
  private static let rounds = 4

  /// Returns a text of the vendor without secrets: those of the request, and what looks like another one.
  public func text(_ text: String?) -> VendorText? { text.map { VendorText($0, without: self) } }

  /// Returns a text without the secrets of the request, and otherwise as it is. Escapes of URLs and of JSON don't hide a
  /// secret, nor do capital letters, nor base64.
  public func removed(from text: String) -> String {
    let bytes = Array(text.utf8)
    let forms = secrets.flatMap { Self.forms(Array($0.reveal().utf8)) }.filter { !$0.isEmpty }
    // Nearly all texts repeat nothing. That is seen sooner than the set of all parts is made.
    guard Self.mayRepeat(forms, bytes) else { return text }
    let masked = Self.masked(bytes, Self.parts(of: forms), rounds: Self.rounds)
    return masked == bytes ? text : String(decoding: masked, as: UTF8.self)
  }

  /// Whether a text repeats a secret of the request.
  public func isRepeated(in text: String) -> Bool { removed(from: text) != text }

  /// Returns the parts of the secrets that no text may have, by their length. A form that is shorter than `part` counts
  /// as a whole only.
  private static func parts(of forms: [[UInt8]]) -> [Int: Set<ArraySlice<UInt8>>] {
    var parts: [Int: Set<ArraySlice<UInt8>>] = [:]
    for form in forms {
      let length = min(form.count, Self.part)
      for start in 0...(form.count - length) { parts[length, default: []].insert(form[start..<(start + length)]) }
    }
    return parts
  }

  /// Returns the forms in which a vendor may repeat a secret, folded: as it is, and in base64, also in the middle of
  /// another text's.
  private static func forms(_ secret: [UInt8]) -> [[UInt8]] {
    let plain = secret.map(folded)
    // The first characters stand for bytes before the secret, too.
    let base64 = [(0, 0), (1, 2), (2, 3)].map { before, dropped in
      [UInt8](Data(repeatElement(0, count: before) + secret).base64EncodedData()).dropFirst(dropped)
        .prefix { $0 != UInt8(ascii: "=") }.map(folded)
    }
    return [plain, base64[0]] + base64.dropFirst().filter { $0.count >= part }
  }

  /// Returns a byte as parts are compared: without case, and without the differences between a space and the `+` of a
  /// form, and between the two alphabets of base64.
  private static func folded(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0x41...0x5A: byte | 0x20
    case UInt8(ascii: " "), UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }

  /// Returns whether a text may have a part of one of these forms. `false` is certain.
  private static func mayRepeat(_ forms: [[UInt8]], _ text: [UInt8]) -> Bool {
    guard let shortest = forms.map({ min($0.count, part) }).min() else { return false }
    var starts = StartTable(length: min(shortest, 8))
    for reading in TextReading.all(of: text) { starts.insertAll(of: reading.bytes.map(folded)) }
    return forms.contains { starts.mayHavePart(of: $0, length: min($0.count, part)) }
  }

  /// Returns a text with its parts masked.
  private static func masked(_ text: [UInt8], _ parts: [Int: Set<ArraySlice<UInt8>>], rounds: Int) -> [UInt8] {
    var isSecret = [Bool](repeating: false, count: text.count)
    for reading in TextReading.all(of: text) {
      let bytes = reading.bytes.map(folded)
      for (length, parts) in parts where bytes.count >= length {
        for start in 0...(bytes.count - length) where parts.contains(bytes[start..<(start + length)]) {
          for index in reading.place(of: start..<(start + length)) { isSecret[index] = true }
        }
      }
    }
    guard rounds > 0, isSecret.contains(true) else { return text }
    var kept: [UInt8] = []
    var index = 0
    while index < text.count {
      let end = isSecret[index...].firstIndex(of: !isSecret[index]) ?? text.count
      kept +=
        isSecret[index] ? Array(SecretMask.mark.utf8) : masked(Array(text[index..<end]), parts, rounds: rounds - 1)
      index = end
    }
    return kept
  }
}

/// A set of sequences of a few bytes, with which parts of a secret begin. It may hold more than was inserted (a Bloom
/// filter with two hash functions), but takes fewer instructions for each byte of a secret than a set of slices.
private struct StartTable {
  private let length: Int
  private var bits = [UInt64](repeating: 0, count: 1 << 10)

  /// Creates an empty set of sequences of `length` bytes, 1 to 8.
  init(length: Int) { self.length = length }

  /// Inserts each sequence in a text.
  mutating func insertAll(of text: [UInt8]) {
    _ = Self.firstStart(in: text, upTo: text.count, length) { first, second in
      bits[first >> 6] |= 1 << UInt64(first & 63)
      bits[second >> 6] |= 1 << UInt64(second & 63)
      return false
    }
  }

  /// Whether the set may hold the start of any part of a form, each of `part` bytes.
  func mayHavePart(of form: [UInt8], length part: Int) -> Bool {
    Self.firstStart(in: form, upTo: form.count - part + length, length) { first, second in
      (bits[first >> 6] >> UInt64(first & 63)) & (bits[second >> 6] >> UInt64(second & 63)) & 1 == 1
    }
  }

  /// Returns whether `found` is `true` for the hashes of any sequence that ends before `end`.
  @inline(__always)
  private static func firstStart(
    in bytes: [UInt8], upTo end: Int, _ length: Int, _ found: (Int, Int) -> Bool
  ) -> Bool {
    var word: UInt64 = 0
    let mask: UInt64 = length == 8 ? .max : (1 << UInt64(length * 8)) - 1
    for index in 0..<end {
      word = (word << 8) | UInt64(bytes[index])
      guard index >= length - 1 else { continue }
      let hash = (word & mask) &* 0x9E37_79B9_7F4A_7C15
      if found(Int(truncatingIfNeeded: hash >> 48), Int(truncatingIfNeeded: (hash >> 32) & 0xFFFF)) { return true }
    }
    return false
  }
}

/// A text of a vendor, such as an error code, that holds no secret. Events, errors and the journal take no other texts
/// of vendors.
public struct VendorText: Sendable, Hashable, ExpressibleByStringLiteral {
  /// The text.
  public let text: String

  /// The maximum UTF-8 bytes that are read. More than that is dropped.
  private static let maximumBytes = 8192

  /// Masks a text's secrets: those of the request that the vendor answers, and what looks like another one.
  public init(_ text: String, without sent: SentSecrets) {
    self.text = SecretMask.mask(sent.removed(from: text.clipped(toUTF8: Self.maximumBytes)))
  }

  /// Creates a text of our own.
  public init(stringLiteral text: StaticString) { self.text = "\(text)" }

  private init(clipping text: String, to bytes: Int) { self.text = text.clipped(toUTF8: bytes) }

  /// The text with at most this many UTF-8 bytes.
  func clipped(toUTF8 bytes: Int) -> VendorText { VendorText(clipping: text, to: bytes) }
}
