import SDKProtocol

/// A parser of HTTP dates (RFC 9110, 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`. It refuses the two obsolete
/// forms.
enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the time; `nil` for an invalid date.
  static func read(_ text: String) -> Timestamp? {
    guard text.utf8.count == 29 else { return nil }
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
      let day = Int(parts[1]), (1...31).contains(day), let month = months.firstIndex(of: String(parts[2])),
      let year = Int(parts[3]), (1970...9999).contains(year)
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int($0) }
    guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
    else { return nil }
    let seconds = days(year, month + 1, day) * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    return Timestamp(secondsSince1970: Double(seconds))
  }

  /// Returns the days since 1970 of a date in the Gregorian calendar (Hinnant's algorithm).
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

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
    guard let end = HTTPDate.read(text), let now = headers["date"].flatMap(HTTPDate.read) else {
      return Self.usualWait
    }
    return min(max(end - now, 0), Self.longestWait)
  }
}
