import Concurrency
import NIOCore
import SDKInstances

/// The system's name resolution with `getaddrinfo`, on threads other than the event loops.
final class SystemNames: NameResolving {
  static let shared = SystemNames()

  private let lookups = SharedLookups<String, [NetworkAddress]>(
    pool: BlockingPool(name: "hosts", maximum: 8), lifetime: .seconds(30), capacity: 4096
  ) { host, _ in
    let found = NetworkAddress.resolve(host)
    return found.isEmpty ? .failure(.network("its name has no address")) : .success(found)
  }

  private init() {}

  func addresses(
    of host: String, timeout: TimeAmount, on loop: any EventLoop
  ) async throws(HTTPFailure) -> [NetworkAddress] {
    if let literal = NetworkAddress(literal: host) { return [literal] }
    return try await lookups.value(of: host, timeout: timeout, on: loop)
  }
}
