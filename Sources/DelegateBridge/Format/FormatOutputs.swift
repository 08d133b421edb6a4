import JSONRPC
import SDKProtocol

/// The token itself on one line. Quotation marks and the like around a JWT are removed; around other tokens they are
/// refused.
enum RawOutput {
  static func parse(_ text: ArraySlice<UInt8>, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    let token = CredentialWrapping.removed(fromJWT: Secret(String(decoding: text, as: UTF8.self))).reveal()
    if let wrapping = CredentialWrapping(token).description {
      throw .output("wrote \(wrapping) around the token; let it write the token alone, as jq -r does")
    }
    guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .output("wrote more than one word of printable ASCII; let it write the token alone, or set provider.format")
    }
    return try OutputFormat.answer(token: token, format: .raw, question)
  }
}

/// The answer of an OAuth 2.0 token endpoint (RFC 6749, 5.1 and 5.2).
enum OAuthOutput {
  static func parse(
    _ object: JSONObject, _ question: BridgeQuestion, now: Timestamp
  ) throws(SDKError) -> BridgeAnswer {
    if let failure = failure(object) { throw failure.error }
    guard let token = object["access_token"]?.stringValue else {
      throw .output("wrote an OAuth answer without access_token")
    }
    var expiry: JSON?
    if let lifetime = object["expires_in"], !lifetime.isNull {
      // A number according to the RFC; some servers write it as text.
      guard let seconds = lifetime.doubleValue ?? lifetime.stringValue.flatMap({ Double($0) }), seconds.isFinite,
        seconds >= 0
      else { throw .output("wrote an expires_in that is not in seconds") }
      // A lifetime that `Seconds` can't hold, a century or more, is treated as no expiry.
      if let seconds = Seconds(seconds) { expiry = .string((now + seconds.value).description) }
    }
    var answer = try OutputFormat.answer(token: token, expiresAt: expiry, format: .oauth, question)
    answer.members["refreshToken"] = object["refresh_token"]?.stringValue.map(JSON.string)
    return answer
  }

  /// Returns the failure that an answer reports; `nil` if it reports none.
  static func failure(_ object: JSONObject) -> ReportedFailure? {
    guard let code = object["error"]?.stringValue else { return nil }
    return ReportedFailure(code: code, message: object["error_description"]?.stringValue)
  }
}

/// The `key=value` lines of git's credential helpers.
enum GitCredentialOutput {
  /// The longest name of a line that is read, in bytes. git knows no longer one, so lines with longer names are
  /// skipped.
  private static let longestName = 64

  static func parse(_ text: ArraySlice<UInt8>, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    let text = text.dropFirst(ByteOrderMark.length(in: text))
    guard String(validating: text, as: UTF8.self) != nil else { throw .output("wrote what is not UTF-8") }
    var values: [String: String] = [:]
    // Split as bytes: in a `String` a carriage return and a line feed are one character.
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      // An empty line ends a helper's output.
      if line.isEmpty { break }
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
        throw .output("wrote a line without =; the format git-credential has key=value lines")
      }
      guard equals - line.startIndex <= longestName else { continue }
      values[String(decoding: line[..<equals], as: UTF8.self)] = String(decoding: line[(equals + 1)...], as: UTF8.self)
    }
    if let quit = values["quit"], ["1", "true"].contains(where: quit.hasSameBytes) { throw .denied("it wrote quit") }
    guard let password = values["password"] else {
      throw .output("wrote no password; a helper that doesn't know exits with 75 for later or 77 for no")
    }
    var expiry: JSON?
    if let seconds = values["password_expiry_utc"] {
      guard let number = Int(seconds) else { throw .output("wrote a password_expiry_utc that is not in seconds") }
      expiry = JSON(number)
    }
    var answer = try OutputFormat.answer(
      token: password, expiresAt: expiry, format: .gitCredential, question)
    answer.members["refreshToken"] = values["oauth_refresh_token"].map(JSON.string)
    return answer
  }
}

/// The executable response of google-auth's "executable-sourced credentials".
enum GoogleExecutableOutput {
  static func parse(_ object: JSONObject, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    if let version = object["version"], version.intValue != 1 {
      throw .output("wrote an executable response of another version than 1")
    }
    if let failure = failure(object) { throw failure.error }
    guard object["success"]?.boolValue == true else {
      throw .output("wrote an executable response without success; it must be true or false")
    }
    if object["saml_response"] != nil {
      throw .output("wrote a SAML response; the vendors take tokens, let it write id_token or access_token")
    }
    guard let token = object["id_token"]?.stringValue ?? object["access_token"]?.stringValue else {
      throw .output("wrote an executable response with neither id_token nor access_token")
    }
    let expiry = object["expiration_time"].flatMap { $0.isNull ? nil : $0 }
    if let expiry, expiry.doubleValue == nil { throw .output("wrote an expiration_time that is not in seconds") }
    return try OutputFormat.answer(token: token, expiresAt: expiry, format: .googleExecutable, question)
  }

  /// Returns the failure that a response reports; `nil` if it reports none.
  static func failure(_ object: JSONObject) -> ReportedFailure? {
    guard object["success"]?.boolValue == false else { return nil }
    let code = object["code"].flatMap { $0.stringValue ?? $0.intValue.map(String.init) }
    return ReportedFailure(code: code, message: object["message"]?.stringValue)
  }
}

/// Kubernetes' ExecCredential, as exec plugins of client-go write it.
enum ExecCredentialOutput {
  private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

  static func parse(_ object: JSONObject, _ question: BridgeQuestion) throws(SDKError) -> BridgeAnswer {
    guard let version = object["apiVersion"]?.stringValue, versions.contains(version),
      object["kind"]?.stringValue == "ExecCredential"
    else {
      throw .output("wrote no ExecCredential; apiVersion must be \(versions.joined(separator: " or "))")
    }
    guard let status = object["status"]?.objectValue, let token = status["token"]?.stringValue else {
      throw .output("wrote an ExecCredential without status.token; client certificates don't help here")
    }
    let expiry = status["expirationTimestamp"].flatMap { $0.isNull ? nil : $0 }
    if let expiry, expiry.stringValue.flatMap({ Timestamp($0) }) == nil {
      throw .output("wrote a status.expirationTimestamp that is no RFC 3339 time")
    }
    return try OutputFormat.answer(token: token, expiresAt: expiry, format: .execCredential, question)
  }
}
