import JSONRPC
import SDKProtocol

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
