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

  /// The forms in which a vendor may repeat the secrets, as UTF-8.
  private var forms: [[UInt8]] {
    secrets.flatMap { secret -> [[UInt8]] in
      let plain = Array(secret.reveal().utf8)
      guard !plain.isEmpty else { return [] }
      let base64 = Array(Data(plain).base64EncodedString().utf8.filter { $0 != UInt8(ascii: "=") })
      let urlSafe = base64.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? 0x5F : $0 }
      return [plain, Self.encoded(plain, digits: "0123456789ABCDEF"), Self.encoded(plain, digits: "0123456789abcdef")]
        + [base64, urlSafe]
    }
  }

  /// Returns a text of the vendor without secrets: those of the request, and what looks like another one.
  public func text(_ text: String?) -> VendorText? { text.map { VendorText($0, without: self) } }

  /// Returns a text without the secrets of the request, and otherwise as it is.
  public func removed(from text: String) -> String {
    let bytes = Array(text.utf8)
    var isSecret = [Bool](repeating: false, count: bytes.count)
    for form in forms { Self.mark(form, in: bytes, &isSecret) }
    guard isSecret.contains(true) else { return text }
    var kept: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if !isSecret[index] {
        kept.append(byte)
      } else if index == 0 || !isSecret[index - 1] {
        kept += Array(SecretMask.mark.utf8)
      }
    }
    return String(decoding: kept, as: UTF8.self)
  }

  /// Whether a text repeats a secret of the request.
  public func isRepeated(in text: String) -> Bool { removed(from: text) != text }

  /// Marks the bytes of a text that are the form, or a part of it. A form that is shorter than `part` counts as a whole
  /// only.
  private static func mark(_ form: [UInt8], in bytes: [UInt8], _ isSecret: inout [Bool]) {
    let length = min(form.count, part)
    guard bytes.count >= length else { return }
    let parts = Set((0...(form.count - length)).map { form[$0..<($0 + length)] })
    for start in 0...(bytes.count - length) where parts.contains(bytes[start..<(start + length)]) {
      for index in start..<(start + length) { isSecret[index] = true }
    }
  }

  /// Returns a text with all but the unreserved characters percent-encoded (RFC 3986, section 2).
  private static func encoded(_ bytes: [UInt8], digits: String) -> [UInt8] {
    let digits = Array(digits.utf8)
    return bytes.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: [byte]
      default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
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
