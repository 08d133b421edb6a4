import SDKProtocol

/// The errors that several methods of the kind share.
extension DeclaredError {
  /// The vendor's refusals.
  static let chatCenterVendor = DeclaredError("chatCenterVendor", .vendor, [.invalidAuth, .forbidden, .notFound])
  /// The local refusals of a user or an authorization.
  static let chatCenterLocal = DeclaredError(
    "chatCenterLocal", .local, [.invalidIdentifier, .weakIdentifier, .invalidAuthParameters, .expiredJWT])
}
