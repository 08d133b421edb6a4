import SDKProtocol

extension HTTPResponseParts {
  /// The longest wait that a vendor may ask for, in seconds.
  private static let longestWait = 3600.0
  /// The wait where the vendor names none that can be read, in seconds.
  private static let usualWait = 5.0

  /// The seconds to wait before the next request, from `Retry-After` (RFC 9110, 10.2.3): 0 to an hour.
  ///
  /// A date is measured by the answer's own `Date`, so that clocks that differ don't matter.
  public var retryAfter: Double {
    guard let text = headers["retry-after"] else { return Self.usualWait }
    if let first = text.utf8.first, (0x30...0x39).contains(first), !text.utf8.contains(UInt8(ascii: "x")),
      let seconds = Double(text), seconds.isFinite
    {
      return min(seconds, Self.longestWait)
    }
    guard let end = HTTPDate.read(text), let now = headers["date"].flatMap(HTTPDate.read) else {
      return Self.usualWait
    }
    return min(max(end - now, 0), Self.longestWait)
  }
}
