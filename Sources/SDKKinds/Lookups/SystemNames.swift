import Concurrency
import Glibc
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

extension NetworkAddress {
  /// Creates the address of a connection; `nil` for a socket address that is not an IP address.
  init?(_ address: SocketAddress) {
    // Only link-local addresses have a zone.
    guard let text = address.ipAddress?.prefix(while: { $0 != "%" }) else { return nil }
    self.init(literal: String(text))
  }

  /// Returns up to 16 addresses of a name; none when it has none or the look-up fails. Blocks.
  static func resolve(_ host: String) -> [NetworkAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [NetworkAddress] = []
    var next = list
    while let entry = next, found.count < 16 {
      next = entry.pointee.ai_next
      guard let address = entry.pointee.ai_addr else { continue }
      var text = [CChar](repeating: 0, count: 64)
      guard
        getnameinfo(
          address, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      else { continue }
      let plain = String(decoding: text.prefix { $0 != 0 && $0 != 0x25 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let one = NetworkAddress(literal: plain), !found.contains(one) { found.append(one) }
    }
    return found
  }
}
