import SDKProtocol

/// The rule for ids from settings that are inserted into paths and headers.
enum IdentifierRule {
  /// Checks the id that a setting holds.
  ///
  /// - Throws: `invalidAuthParameters` with the setting.
  static func check(_ text: String, setting: String) throws(SDKError) {
    guard !(1...128).contains(text.utf8.count) || !text.utf8.allSatisfy(isAllowed) else { return }
    throw SDKError(
      .local, .invalidAuthParameters,
      "The setting \(setting) must have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore and hyphen.",
      member: setting)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: false
    }
  }
}
