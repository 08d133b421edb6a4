import SDKProtocol

/// A result that carries a credential, which call observers get the digest of. Every result with a `Token` in it must
/// conform; a test checks the schemas of all methods.
protocol CredentialBearing {
  /// The credential's digest; `nil` if the result has no credential.
  var handedOut: TokenID? { get }
  /// The service of the credential, if the result names one.
  var handedOutService: String? { get }
}

extension Token: CredentialBearing {
  var handedOut: TokenID? { tokenId }
  var handedOutService: String? { nil }
}

extension Session: CredentialBearing {
  var handedOut: TokenID? { token?.tokenId }
  var handedOutService: String? { service }
}
