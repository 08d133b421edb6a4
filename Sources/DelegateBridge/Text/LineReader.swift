import SDKProtocol

/// A splitter of a provider's standard error into lines for the journal. Bytes past a limit are counted, not kept.
struct LineReader: Sendable {
  /// The number of bytes that are kept in total.
  static let limit = 4096

  private var pending: [UInt8] = []
  private var kept = 0
  private var ignored = 0

  init() {}

  /// Adds bytes and returns the lines that they complete, with secrets masked.
  mutating func take(_ bytes: some Collection<UInt8>) -> [String] {
    let room = bytes.prefix(max(0, Self.limit - kept))
    kept += room.count
    ignored += bytes.count - room.count
    pending += room
    var lines: [String] = []
    while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
      append(pending[..<end], to: &lines)
      pending.removeSubrange(...end)
    }
    return lines
  }

  /// Returns the last, unterminated line and a note on the omitted bytes.
  mutating func finish() -> [String] {
    var lines: [String] = []
    // The last word may be the start of a secret that can't be recognized without its cut-off rest.
    if ignored > 0 {
      let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
      pending = Array(pending[..<(pending.lastIndex(where: isBlank) ?? 0)])
    }
    append(pending[...], to: &lines)
    pending = []
    if ignored > 0 { lines.append("… and \(ignored) bytes more, which are not kept") }
    return lines
  }

  private func append(_ bytes: ArraySlice<UInt8>, to lines: inout [String]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let visible = String(
      String.UnicodeScalarView(text.unicodeScalars.filter { $0 == "\t" || $0.properties.generalCategory != .control }))
    let masked = SecretMask.mask(visible)
    if masked.contains(where: { !$0.isWhitespace }) { lines.append(masked) }
  }
}
