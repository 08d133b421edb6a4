import Glibc
import NIOCore
import SDKInstances

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
