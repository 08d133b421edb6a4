extension Timestamp {
  /// Parses RFC 3339 text, with or without fractions of a second, in any offset; `nil` for any other text.
  public init?(_ text: String) {
    var reader = RFC3339Reader(rest: text.utf8[...])
    guard let seconds = reader.seconds() else { return nil }
    self.init(secondsSince1970: seconds)
  }

  /// Parses an HTTP date in one of its three forms (RFC 9110, 5.6.7); `nil` for any other text, years before 1970
  /// included. The day of the week is not checked.
  ///
  /// - Parameter now: the present time. A year of two digits is at most 50 years after it.
  public init?(httpDate text: String, now: Timestamp = .now) {
    guard text.utf8.count <= 33 else { return nil }
    let words = text.split(separator: " ").map(String.init)
    switch (words.count, words.last) {
    // Sun, 06 Nov 1994 08:49:37 GMT
    case (6, "GMT"?) where text.utf8.count == 29 && words[0].hasSuffix(","):
      self.init(year: words[3], month: words[2], day: words[1], time: words[4])
    // Sunday, 06-Nov-94 08:49:37 GMT
    case (4, "GMT"?) where words[0].hasSuffix("day,"):
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3, date[2].utf8.count == 2, date[2].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let last = Int(date[2])
      else { return nil }
      let present = 1970 + Int(now.secondsSince1970 / 31_556_952)
      var year = present - present % 100 + last
      if year > present + 50 { year -= 100 }
      self.init(year: String(year), month: date[1], day: date[0], time: words[2])
    // Sun Nov  6 08:49:37 1994
    case (5, let year?) where text.utf8.count == 24:
      let day = words[2].utf8.count == 1 ? "0" + words[2] : words[2]
      self.init(year: year, month: words[1], day: day, time: words[3])
    default: return nil
    }
  }

  private init?(year: String, month: String, day: String, time: String) {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard year.utf8.count == 4, year >= "1970", let month = months.firstIndex(of: month) else { return nil }
    self.init("\(year)-\(month < 9 ? "0" : "")\(month + 1)-\(day)T\(time)Z")
  }
}

/// A parser that accepts only the grammar of RFC 3339, section 5.6. Foundation also accepts dates that don't exist and
/// text after the time, which would give a token a wrong expiry.
private struct RFC3339Reader {
  var rest: Substring.UTF8View

  mutating func seconds() -> Double? {
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2), skip("T", "t"),
      let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
      let fraction = fraction(), let offset = offset(), rest.isEmpty
    else { return nil }
    // A second of 60 is a leap second. It is treated as the first second of the next minute.
    guard (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    let days = Self.daysSince1970(year, month, day)
    return Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset) + fraction
  }

  private mutating func number(_ count: Int) -> Int? {
    var value = 0
    for _ in 0..<count {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  private mutating func digit() -> Int? {
    guard let byte = rest.first, (0x30...0x39).contains(byte) else { return nil }
    rest.removeFirst()
    return Int(byte - 0x30)
  }

  private mutating func skip(_ either: Unicode.Scalar...) -> Bool {
    guard let byte = rest.first, either.contains(Unicode.Scalar(byte)) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func fraction() -> Double? {
    guard skip(".") else { return 0 }
    guard var value = digit().map(Double.init) else { return nil }
    var scale = 10.0
    // Digits beyond the precision of a double are skipped.
    while let digit = digit() {
      guard scale < 1e15 else { continue }
      value = value * 10 + Double(digit)
      scale *= 10
    }
    return value / scale
  }

  private mutating func offset() -> Int? {
    if skip("Z", "z") { return 0 }
    let sign = skip("+") ? 1 : skip("-") ? -1 : 0
    guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 3600 + minutes * 60)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns the days from 1970-01-01 to a date in the Gregorian calendar (Hinnant's algorithm).
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
