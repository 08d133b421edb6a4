import SDKProtocol

/// The headers and cookies that identify the sender of a request.
struct EdnaHeaders {
  let headers: [(name: String, value: String)]
  let cookies: [(name: String, value: String)]

  init(_ state: EdnaState) {
    let auth = state.auth
    var headers = [(name: "X-Ext-Client-ID", value: state.clientId)]
    var cookies: [(name: String, value: String)] = []
    if let token = Self.clientToken(state) {
      headers.append(("X-Client-Token", token))
      if !Self.isPlain(state) { headers.append(("X-Header-Encoding", "url")) }
    }
    switch auth.method {
    case .headers:
      if let token = auth.token { headers.append(("Authorization", token.reveal())) }
      if let scheme = auth.scheme { headers.append(("X-Auth-Schema", scheme.reveal())) }
    case .cookies:
      // A scheme without a token is not sent as a cookie.
      guard let token = auth.token else { break }
      cookies.append(("Authorization", token.reveal()))
      if let scheme = auth.scheme { cookies.append(("X-Auth-Schema", scheme.reveal())) }
    }
    self.headers = headers
    self.cookies = cookies
  }

  /// The headers for the daemon's own requests, with all cookies in one header `Cookie`.
  var fields: [(name: String, value: String)] {
    guard !cookies.isEmpty else { return headers }
    return headers + [("Cookie", cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; "))]
  }

  /// The headers and cookies with which apps send their own requests.
  var http: TokenHTTP {
    TokenHTTP(
      headers: headers.reduce(into: [:]) { $0[$1.name] = Secret($1.value) },
      cookies: cookies.reduce(into: [:]) { $0[$1.name] = Secret($1.value) })
  }

  /// Returns the header value that proves the client id with the signature or, without one, the device's address. `nil`
  /// when there is neither.
  static func clientToken(_ state: EdnaState) -> String? {
    guard let proof = proof(state) else { return nil }
    let token = "\(proof):\(state.clientId)"
    return isPlain(state) ? token : PercentEncoding.value(token)
  }

  private static func proof(_ state: EdnaState) -> String? { state.auth.signature?.reveal() ?? state.deviceAddress }

  /// Whether the token is sent as it is. The vendor's Android SDK does so for an encrypted client id (`kiosk.md`).
  private static func isPlain(_ state: EdnaState) -> Bool {
    state.isEncrypted && (proof(state) ?? "").utf8.allSatisfy { $0 < 0x80 }
      && state.clientId.utf8.allSatisfy { $0 < 0x80 }
  }
}
