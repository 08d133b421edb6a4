import Glibc

/// An IP address, as far as access is concerned.
public struct NetworkAddress: Sendable, Hashable {
  /// What an address stands for.
  public enum Scope: Sendable, Hashable {
    /// Loopback, and the address that means "this host".
    case thisMachine
    /// Of the link that a machine is on, behind which clouds keep its secrets.
    case linkLocal
    /// Anything else.
    case other
  }

  /// The address in its usual form, without brackets and zone.
  public let text: String
  /// 4 or 16 bytes.
  public let bytes: [UInt8]

  /// An address; `nil` if there are neither 4 nor 16 bytes.
  public init?(text: String, bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.text = text
    self.bytes = bytes
  }

  /// An address that is written as one, in its usual form: four decimal numbers, or as RFC 4291 has it, without a zone.
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

  /// What it stands for; one of version 6 that embeds one of version 4 stands for that.
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

  /// The address of version 4 in one of version 6: mapped, compatible (`::` and `::1` among them), translated, 6to4.
  private var embedded: ArraySlice<UInt8>? {
    let isZero = bytes[..<10].allSatisfy { $0 == 0 }
    if isZero, bytes[10] == 0xFF, bytes[11] == 0xFF { return bytes[12...] }
    if isZero, bytes[10] == 0, bytes[11] == 0 { return bytes[12...] }
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B]), bytes[4..<12].allSatisfy({ $0 == 0 }) { return bytes[12...] }
    if bytes.starts(with: [0x20, 0x02]) { return bytes[2..<6] }
    return nil
  }
}
