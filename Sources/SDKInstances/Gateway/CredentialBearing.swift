import SDKProtocol

/// A result that hands out a credential: whoever observes calls is told which. Every result that has a `Token` in it
/// must be one; a test looks at the schemas of all methods.
protocol CredentialBearing {
  /// The credential's digest; `nil` when there is none in it.
  var handedOut: TokenID? { get }
  /// The service that it is of, where the result says so.
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
