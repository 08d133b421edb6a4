import JSONRPC
import SDKInstances
import SDKProtocol

extension EdnaSettings {
  /// Checks the settings, and brings URLs into one form.
  mutating func check() throws(SDKError) {
    try URLRule.check(restURL, setting: "rest_url")
    try URLRule.check(wsURL, setting: "ws_url", secure: "wss", plain: "ws")
    while restURL.hasSuffix("/") { restURL.removeLast() }
    for (text, setting) in [(providerUid, "provider_uid"), (appPackage, "app_package"), (appMarker, "app_marker")] {
      guard let text, !(1...256).contains(text.utf8.count) else { continue }
      throw Self.mistake("must have 1 to 256 bytes.", setting)
    }
    if identifierEncryption != nil, identifierPublicKey == nil {
      throw Self.mistake("is of use with identifier_public_key only; give the key too.", "identifier_encryption")
    }
    if let identifierPublicKey, EdnaCipher(pem: identifierPublicKey, scheme: .oaepSHA256) == nil {
      throw Self.mistake("must be an RSA public key of 2048 bits or more in PEM.", "identifier_public_key")
    }
    if retryLogout == true, persistCredentials == false {
      throw Self.mistake(
        "keeps the user's credentials until it has succeeded; set persist_credentials.", "retry_logout")
    }
  }

  private static func mistake(_ sentence: String, _ setting: String) -> SDKError {
    SDKError(.local, .invalidAuthParameters, "The setting \(setting) \(sentence)", member: setting)
  }

  /// The cipher of identifiers; `nil` when they are sent unencrypted.
  var cipher: EdnaCipher? {
    identifierPublicKey.flatMap { EdnaCipher(pem: $0, scheme: identifierEncryption ?? .oaepSHA256) }
  }
}
