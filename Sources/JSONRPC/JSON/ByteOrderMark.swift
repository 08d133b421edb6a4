/// The mark that some editors and shells write at the beginning of a text file (U+FEFF).
///
/// In UTF-8 it says nothing, and a reader may skip it (RFC 8259, section 8.1). In UTF-16 it tells that the text can't be
/// read here.
public enum ByteOrderMark {
  private static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The predicate of a sentence about a text in UTF-16, such as the output of `>` in PowerShell 5.
  public static let utf16Predicate = "is UTF-16; save it as UTF-8"

  /// Returns the number of bytes of the mark at the beginning of a text in UTF-8: 3, or 0 without one.
  public static func length(in bytes: some Collection<UInt8>) -> Int {
    bytes.first == utf8[0] && bytes.starts(with: utf8) ? utf8.count : 0
  }

  /// Whether a text begins with the mark in UTF-16.
  public static func isUTF16(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
  }
}
