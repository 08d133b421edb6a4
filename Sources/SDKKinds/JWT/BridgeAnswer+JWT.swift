import DelegateBridge
import SDKInstances
import SDKProtocol

extension BridgeAnswer {
  /// The JWT in an answer of the owner's, checked in the kind's own way.
  ///
  /// - Throws: `providerOutputInvalid`, with what is wrong with it.
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
