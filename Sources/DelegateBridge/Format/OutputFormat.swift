import JSONRPC
public import SDKProtocol

/// A parser of a provider's standard output.
public enum OutputFormat {
  /// Parses a provider's output into an answer.
  ///
  /// - Parameter now: the time at which it was written, for formats that give a lifetime.
  /// - Throws: `providerOutputInvalid` for output that can't be read; the message contains nothing of the output. The
  ///   provider's own failure, if the format can report one.
  public static func parse(
    _ bytes: [UInt8], format: ProviderFormat, question: BridgeQuestion, now: Timestamp
  ) throws(SDKError) -> BridgeAnswer {
    guard let start = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
    else { throw .output("wrote nothing; let it write the token, or exit with 75 for later and 77 for no") }
    let text = bytes[start...last]
    guard !ByteOrderMark.isUTF16(text) else { throw .output("wrote text in UTF-16; let it write UTF-8") }
    switch format {
    case .raw: return try RawOutput.parse(text, question)
    case .json: return try AnswerShape.check(try object(text), question)
    case .execCredential: return try ExecCredentialOutput.parse(try object(text), question)
    case .googleExecutable: return try GoogleExecutableOutput.parse(try object(text), question)
    case .gitCredential: return try GitCredentialOutput.parse(text, question)
    case .oauth: return try OAuthOutput.parse(try object(text), question, now: now)
    case .auto:
      guard text.dropFirst(ByteOrderMark.length(in: text)).first == UInt8(ascii: "{") else {
        return try RawOutput.parse(text, question)
      }
      let object = try object(text)
      if object["apiVersion"] != nil { return try ExecCredentialOutput.parse(object, question) }
      if object["success"] != nil { return try GoogleExecutableOutput.parse(object, question) }
      if object["access_token"] != nil { return try OAuthOutput.parse(object, question, now: now) }
      return try AnswerShape.check(object, question)
    }
  }

  /// Returns the failure that a provider with a bad exit status reports in its output; `nil` if it reports none.
  static func failure(_ bytes: [UInt8], format: ProviderFormat) -> ReportedFailure? {
    switch format {
    case .auto, .googleExecutable: (try? object(bytes[...])).flatMap(GoogleExecutableOutput.failure)
    case .oauth: (try? object(bytes[...])).flatMap(OAuthOutput.failure)
    case .raw, .json, .execCredential, .gitCredential: nil
    }
  }

  /// Returns an answer with a token, for formats that can express nothing else.
  static func answer(
    token: String, expiresAt: JSON? = nil, format: ProviderFormat, _ question: BridgeQuestion
  ) throws(SDKError) -> BridgeAnswer {
    guard question.name == .getToken || question.name == .invalidAuth else {
      throw .output("answered \(question.name.rawValue) with a token; let it answer in JSON, format \"json\"")
    }
    guard !token.isEmpty else { throw .output("wrote an empty token in the format \(format.rawValue)") }
    var members: JSONObject = ["token": .string(token)]
    members["expiresAt"] = expiresAt
    return try AnswerShape.check(members, question)
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func object(_ text: ArraySlice<UInt8>) throws(SDKError) -> JSONObject {
    let value: JSON
    do {
      value = try JSONParser.parse(text)
    } catch {
      // The parser's message may quote a member's name, and the output is secret.
      throw .output("wrote what is not JSON (byte \(error.offset)); let it write one JSON object and nothing else")
    }
    guard let object = value.objectValue else {
      throw .output("wrote JSON that is a \(value.typeName); let it write an object")
    }
    return object
  }
}

extension SDKError {
  /// Returns `providerOutputInvalid`. `words` follow the answerer's name: they state what it did and what it should do.
  static func output(_ words: String, by who: Answerer = .provider) -> SDKError {
    SDKError(.provider, .providerOutputInvalid, "\(who.rawValue) \(words).")
  }
}

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
      vendorCode: code.map { VendorText($0, without: .none) },
      vendorDescription: message.map { VendorText($0, without: .none) })
  }

  private static func shown(_ text: String, _ limit: Int) -> String {
    // Mask before cutting: half a token would not be recognized.
    let line = String(String.UnicodeScalarView(text.unicodeScalars.prefix(8192).map { $0.value < 0x20 ? " " : $0 }))
    return String(SecretMask.mask(line).prefix(limit))
  }
}
