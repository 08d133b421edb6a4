import NIOCore
import SDKInstances

/// From names to addresses. Who connects asks here first, checks what it gets, and connects to that and nothing else:
/// a name that is resolved twice can lead to two places.
protocol NameResolving: Sendable {
  /// The addresses of a host, the best first.
  ///
  /// - Throws: `network` when there are none, `timeout`.
  func addresses(of host: String, timeout: TimeAmount, on loop: any EventLoop) async throws(HTTPFailure)
    -> [NetworkAddress]
}

extension NameResolving {
  /// The addresses of a host if the rule allows them. One that is refused refuses the name.
  func addresses(
    of host: String, by rule: AddressRule, timeout: TimeAmount, on loop: any EventLoop
  ) async throws(HTTPFailure) -> [NetworkAddress] {
    let found = try await addresses(of: host, timeout: timeout, on: loop)
    for address in found {
      if let refusal = rule.refusal(of: address) { throw .network(refusal) }
    }
    guard !found.isEmpty else { throw .network("its name has no address") }
    return found
  }
}
