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
      headers.append(("X-Header-Encoding", "url"))
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
    guard let proof = state.auth.signature?.reveal() ?? state.deviceAddress else { return nil }
    return PercentEncoding.value("\(proof):\(state.clientId)")
  }
}
