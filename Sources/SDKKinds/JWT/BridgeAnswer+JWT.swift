import DelegateBridge
import SDKInstances
import SDKProtocol

extension BridgeAnswer {
  /// Returns the JWT in the owner's response, checked by the kind's `check`.
  ///
  /// - Throws: `providerOutputInvalid` with the fault of the JWT.
  func checkedJWT(
    _ check: (Secret) throws(SDKError) -> CheckedCredential
  ) throws(SDKError) -> CheckedCredential {
    guard let token else {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider's answer has no token; it must give a JWT.")
    }
    do throws(SDKError) {
      return try check(token)
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider gave a JWT that can't be right. \(error.message)",
        hints: error.hints)
    }
  }
}
