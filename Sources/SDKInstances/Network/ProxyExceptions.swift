/// A list of hosts that are reached without the proxy.
///
/// An entry is a host or domain, which stands for all hosts below it too, an IP address, or a range of addresses such
/// as `10.0.0.0/8`.
public struct ProxyExceptions: Sendable, Hashable {
  /// The entries, in lower case and without dots at their ends.
  public let entries: [String]

  /// Creates a list with these entries.
  public init(_ entries: [String] = []) {
    self.entries = entries.map { entry in
      var name = entry.lowercased()[...]
      while name.first == "." { name.removeFirst() }
      if name.last == "." { name.removeLast() }
      if name.first == "[", name.last == "]" { name = name.dropFirst().dropLast() }
      return String(name)
    }.filter { !$0.isEmpty }
  }

  /// Creates the list in a variable `no_proxy`: entries with commas or blanks between them, or `*` alone for all hosts.
  public init(variable text: String) {
    self.init(text.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init))
  }

  /// Whether a host in lower case, without brackets, is on the list.
  public func contains(_ host: String) -> Bool {
    if entries == ["*"] { return true }
    if let address = NetworkAddress(literal: host) {
      return entries.contains { AddressRange($0)?.contains(address) ?? false }
    }
    return entries.contains { host == $0 || host.hasSuffix(".\($0)") }
  }
}

/// A range of IP addresses: all whose first bits are those of one address.
public struct AddressRange: Sendable, Hashable {
  private let address: NetworkAddress
  private let bits: Int

  /// Creates the range of a text such as `10.0.0.0/8`, or a single address; `nil` for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = NetworkAddress(literal: String(parts[0])) else { return nil }
    self.address = address
    bits = parts.count == 1 ? address.bytes.count * 8 : Int(parts[1]) ?? -1
    guard (0...address.bytes.count * 8).contains(bits) else { return nil }
  }

  /// Whether an address is in the range.
  public func contains(_ other: NetworkAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    return zip(address.bytes, other.bytes).enumerated().allSatisfy { index, pair in
      let kept = min(max(bits - index * 8, 0), 8)
      return (pair.0 ^ pair.1) >> UInt8(8 - kept) == 0
    }
  }
}
