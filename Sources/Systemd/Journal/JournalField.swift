/// A field of a journal entry.
public struct JournalField: Sendable, Hashable {
  /// The name: upper-case ASCII letters, digits and underscores. journald drops fields with other names.
  public let name: String
  /// The value, which may contain line breaks.
  public let value: String

  /// Creates a field with an unchecked name. Names made from metadata come from ``name(forKey:)``.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension JournalField {
  /// The prefix of all names made from metadata, so that none can imitate a field of journald or syslog.
  static let prefix = "SDKD_"
  /// The longest name that journald accepts, in bytes.
  static let maximumNameLength = 64

  /// Returns the field name for a metadata key; nil if the key contains no ASCII letter or digit.
  ///
  /// `tokenId` becomes `SDKD_TOKEN_ID`, `peerUID` becomes `SDKD_PEER_UID`, `request.id` becomes `SDKD_REQUEST_ID`.
  /// Characters other than ASCII letters and digits become underscores.
  static func name(forKey key: String) -> String? {
    let bytes = Array(key.utf8.prefix(maximumNameLength))
    var name: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      guard byte.isASCIILetterOrDigit else {
        separate(&name)
        continue
      }
      if byte.isASCIIUppercase, index > 0 {
        let next = index + 1 < bytes.count ? bytes[index + 1] : 0
        let previous = bytes[index - 1]
        let startsWord = !previous.isASCIIUppercase || next.isASCIILowercase
        if previous.isASCIILetterOrDigit, startsWord { separate(&name) }
      }
      name.append(byte.isASCIILowercase ? byte - 0x20 : byte)
    }
    let limited = name.prefix(maximumNameLength - prefix.utf8.count)
    let end = limited.lastIndex { $0 != UInt8(ascii: "_") }
    guard let end else { return nil }
    return prefix + String(decoding: limited[...end], as: UTF8.self)
  }

  private static func separate(_ name: inout [UInt8]) {
    guard let last = name.last, last != UInt8(ascii: "_") else { return }
    name.append(UInt8(ascii: "_"))
  }
}

extension UInt8 {
  fileprivate var isASCIIUppercase: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
  fileprivate var isASCIILowercase: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
  fileprivate var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  fileprivate var isASCIILetterOrDigit: Bool { isASCIIUppercase || isASCIILowercase || isASCIIDigit }
}
