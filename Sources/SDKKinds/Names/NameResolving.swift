import NIOCore
import SDKInstances

/// A resolver of host names. A caller resolves a name once, checks the addresses, and connects to no others: a second
/// resolution could return different addresses.
protocol NameResolving: Sendable {
  /// Returns the addresses of a host, the preferred one first.
  ///
  /// - Throws: `network` when there are none; `timeout`.
  func addresses(of host: String, timeout: TimeAmount, on loop: any EventLoop) async throws(HTTPFailure)
    -> [NetworkAddress]
}

extension NameResolving {
  /// Returns the addresses of a host. Throws `network` if `rule` refuses one of them.
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
