import SDKProtocol

/// Sample errors of the origins that an instance meets.
enum SampleErrors {
  static let refused = SDKError(.vendor, .invalidAuth, "The vendor refuses the token.", httpStatus: 401)
  static let forbidden = SDKError(.vendor, .forbidden, "The vendor forbids it.", httpStatus: 403)
  static let network = SDKError(.unreachable, .network, "The vendor can't be reached.")
  static let serverError = SDKError(.unreachable, .serverError, "The vendor is ill.", httpStatus: 503)
  static let unprocessable = SDKError(.unreachable, .badResponse, "The vendor can't read it.", httpStatus: 422)
  static let failed = SDKError(.provider, .providerFailed, "The provider failed.")
  static let backoff = SDKError(.provider, .providerBackoff, "The provider is not run yet.")
  static let none = SDKError(.provider, .noProvider, "There is no provider.")
  static let denied = SDKError(.provider, .providerDenied, "The provider says no.")
  static let interrupted = SDKError(.state, .rotationInterrupted, "Its answer was lost; sign in again.")
}
