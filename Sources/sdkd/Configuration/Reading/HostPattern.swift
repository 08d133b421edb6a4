/// A host name, an address or a domain, as `[network] allow` has them.
enum HostPattern {
  static func isValid(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }
}

/// Where something listens: `HOST:PORT`, `[ADDRESS]:PORT` or the path of a socket.
enum ListenAddress {
  static func isValid(_ text: String) -> Bool {
    // A socket's path has to fit into 108 bytes with its NUL.
    if text.hasPrefix("/") { return text.utf8.count < 108 && text.count > 1 }
    guard let colon = text.lastIndex(of: ":") else { return false }
    let host = text[..<colon]
    let port = text[text.index(after: colon)...]
    guard port.allSatisfy(\.isNumber), let number = UInt16(port), number > 0 else { return false }
    if host.hasPrefix("["), host.hasSuffix("]") {
      return host.count > 4 && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
    }
    return HostPattern.isValid(String(host))
  }
}
