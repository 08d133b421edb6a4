/// One field of a journal entry.
public struct JournalField: Sendable, Hashable {
  /// Upper-case ASCII letters, digits and underscores: journald drops fields of other names.
  public let name: String
  /// Any text; line breaks are fine.
  public let value: String

  /// Takes a name as it is: names made from metadata come from ``name(forKey:)``.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension JournalField {
  /// What every field made from metadata begins with, so that none can pass for a field of journald or syslog.
  static let prefix = "SDKD_"
  /// journald takes names of up to 64 bytes.
  static let maximumNameLength = 64

  /// `tokenId` becomes `SDKD_TOKEN_ID`, `peerUID` becomes `SDKD_PEER_UID`, `request.id` becomes `SDKD_REQUEST_ID`.
  /// What is neither a letter nor a digit of ASCII becomes an underscore. Nil if nothing is left.
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
