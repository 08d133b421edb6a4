import SDKProtocol

/// A failure that a provider reports in its output, safe to show.
struct ReportedFailure: Sendable, Hashable {
  let code: String?
  let message: String?

  /// Creates a failure from the provider's words: truncated, on one line, with masked tokens.
  init(code: String?, message: String?) {
    self.code = code.map { Self.shown($0, 64) }
    self.message = message.map { Self.shown($0, 512) }
  }

  /// The failure as an error of the provider.
  var error: SDKError {
    SDKError(
      .provider, .providerFailed,
      "The token provider reports a failure\(code.map { " (\($0))" } ?? ""); its own words are attached.",
      vendorCode: code, vendorDescription: message)
  }

  private static func shown(_ text: String, _ limit: Int) -> String {
    // Mask before cutting: half a token would not be recognized.
    let line = String(String.UnicodeScalarView(text.unicodeScalars.prefix(8192).map { $0.value < 0x20 ? " " : $0 }))
    return String(SecretMask.mask(line).prefix(limit))
  }
}
