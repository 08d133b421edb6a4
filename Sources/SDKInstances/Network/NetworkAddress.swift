import Glibc

/// An IP address and its scope, for access checks.
public struct NetworkAddress: Sendable, Hashable {
  /// The scope of an address.
  public enum Scope: Sendable, Hashable {
    /// Loopback (127.0.0.0/8) and "this host" (0.0.0.0/8), or `::1` and `::`.
    case thisMachine
    /// A link-local address. Cloud providers serve a machine's secrets there.
    case linkLocal
    /// Anything else.
    case other
  }

  /// The address in its usual form, without brackets and zone.
  public let text: String
  /// The address in network byte order: 4 or 16 bytes.
  public let bytes: [UInt8]

  /// Creates an address; `nil` if there are neither 4 nor 16 bytes.
  public init?(text: String, bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.text = text
    self.bytes = bytes
  }

  /// Creates an address from a literal: four decimal numbers, or the form of RFC 4291 without a zone; `nil` for
  /// anything else.
  public init?(literal: String) {
    var four = in_addr()
    if inet_pton(AF_INET, literal, &four) == 1 {
      self.init(text: literal, bytes: withUnsafeBytes(of: four) { Array($0) })
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, literal, &six) == 1 else { return nil }
    self.init(text: literal, bytes: withUnsafeBytes(of: six) { Array($0) })
  }

  /// The scope of the address. An IPv6 address that embeds an IPv4 address has the scope of that one.
  public var scope: Scope {
    if bytes.count == 4 { return Self.scope(of: bytes[...]) }
    if bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 { return .linkLocal }
    return embedded.map(Self.scope) ?? .other
  }

  private static func scope(of four: ArraySlice<UInt8>) -> Scope {
    switch (four[four.startIndex], four[four.startIndex + 1]) {
    case (0, _), (127, _): .thisMachine
    case (169, 254): .linkLocal
    default: .other
    }
  }

  /// The IPv4 address that an IPv6 address embeds: mapped, compatible (`::` and `::1` among them), translated or 6to4.
  private var embedded: ArraySlice<UInt8>? {
    let isZero = bytes[..<10].allSatisfy { $0 == 0 }
    if isZero, bytes[10] == 0xFF, bytes[11] == 0xFF { return bytes[12...] }
    if isZero, bytes[10] == 0, bytes[11] == 0 { return bytes[12...] }
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B]), bytes[4..<12].allSatisfy({ $0 == 0 }) { return bytes[12...] }
    if bytes.starts(with: [0x20, 0x02]) { return bytes[2..<6] }
    return nil
  }
}

/// The rule for the IP addresses to which a connection to a vendor may be made, applied after name resolution
/// (sdkd-protocol(7)).
public enum AddressRule: Sendable, Hashable, CaseIterable {
  /// Any address that is not link-local, because an admin named the host.
  case anywhere
  /// Only addresses of other machines, because a vendor, a provider or a caller other than an admin named the host.
  case outside
  /// Only addresses of this machine, because the connection is not encrypted.
  case loopback

  /// Returns the reason why a connection to an address is not allowed; `nil` if it is allowed.
  public func refusal(of address: NetworkAddress) -> String? {
    switch (address.scope, self) {
    case (.linkLocal, _): "its name leads to a link-local address, which is refused always"
    case (.thisMachine, .outside): "its name leads to this machine, which only an admin may allow"
    case (.other, .loopback): "without TLS only addresses of this machine are taken, and its name leads to another"
    case (.thisMachine, .anywhere), (.thisMachine, .loopback), (.other, .anywhere), (.other, .outside): nil
    }
  }
}
