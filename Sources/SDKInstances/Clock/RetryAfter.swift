import SDKProtocol

extension HTTPResponseParts {
  /// The longest wait that is accepted from a vendor, in seconds.
  private static let longestWait = 3600.0
  /// The wait in seconds where the vendor gives none that can be read.
  private static let usualWait = 5.0

  /// The seconds to wait before the next request, from `Retry-After` (RFC 9110, 10.2.3): 0 to an hour.
  ///
  /// A date is compared with the response's own `Date`, so that differing clocks don't matter.
  public var retryAfter: Double {
    guard let text = headers["retry-after"] else { return Self.usualWait }
    if let first = text.utf8.first, (0x30...0x39).contains(first), !text.utf8.contains(UInt8(ascii: "x")),
      let seconds = Double(text), seconds.isFinite
    {
      return min(seconds, Self.longestWait)
    }
    guard let end = Timestamp(httpDate: text), let now = headers["date"].flatMap({ Timestamp(httpDate: $0) }) else {
      return Self.usualWait
    }
    return min(max(end - now, 0), Self.longestWait)
  }
}
