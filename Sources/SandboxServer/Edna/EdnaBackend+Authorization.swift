import Foundation

/// Verification of the headers of a request.
extension EdnaBackend {
  /// Identifies the user of a request and throws unless the credentials are valid.
  ///
  /// `mayLackAddress` permits an empty `X-Client-Token`, for requests before the first registration. The status is 400
  /// for inconsistent headers, 401 for tokens and 403 for another provider.
  mutating func authorize(_ call: BackendCall, mayLackAddress: Bool) throws(EdnaRefusal) {
    try Self.checkProvider(call.query["providerUid"] ?? call.headers["x-provider-uid"])
    guard let sent = call.headers["x-ext-client-id"], !sent.isEmpty else {
      throw .badRequest("X-Ext-Client-ID is missing")
    }
    let identifier = EdnaIdentifier(sent)
    let credentials = try EdnaCredentials(call)
    let proof = try Self.clientToken(call, of: sent)
    if proof.isEmpty, !mayLackAddress {
      throw .unauthorized("invalid", "X-Client-Token has neither signature nor device address")
    }
    if let device = devices[proof], device.clientID != identifier.plain {
      throw .unauthorized("invalid", "the device address in X-Client-Token is another client's")
    }
    try tokens.check(credentials.token, of: identifier.plain, at: call.now)
    try note(identifier, credentials)
  }

  /// Throws for every provider but the demo one. A missing `uid` means the demo provider.
  static func checkProvider(_ uid: String?) throws(EdnaRefusal) {
    guard uid == nil || uid == DemoAccounts.providerUID else { throw .forbidden("wrong providerUid") }
  }

  /// Returns the part of `X-Client-Token` before `:clientId`: a signature, a device address, or an empty text.
  private static func clientToken(_ call: BackendCall, of clientID: String) throws(EdnaRefusal) -> String {
    guard let token = call.headers["x-client-token"] else { return "" }
    guard let encoding = call.headers["x-header-encoding"] else { return try proof(in: token, of: clientID) }
    guard encoding == "url" else { throw .badRequest("X-Header-Encoding is not url") }
    let isEncoded = token.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: Data("-_.~*!'()%+".utf8).contains(byte)
      }
    }
    guard isEncoded, let text = token.replacing("+", with: " ").removingPercentEncoding else {
      throw .unauthorized("invalid", "X-Client-Token is not url-encoded")
    }
    return try proof(in: text, of: clientID)
  }

  private static func proof(in token: String, of clientID: String) throws(EdnaRefusal) -> String {
    guard token.hasSuffix(":\(clientID)") else {
      throw .unauthorized("invalid", "X-Client-Token does not end with the client id")
    }
    return String(token.dropLast(clientID.count + 1))
  }
}
