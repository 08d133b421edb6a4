import SDKProtocol

/// The time in an HTTP response (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Returns the time of the last `Date` header in a text; `nil` when there is none, or it can't be read.
  static func time(inHeaders text: String) -> Timestamp? {
    let line = text.split(whereSeparator: \.isNewline).last { $0.lowercased().hasPrefix("date:") }
    // Such as "Sun, 06 Nov 1994 08:49:37 GMT".
    let words = line?.dropFirst(5).split(separator: " ") ?? []
    guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
      let month = months.firstIndex(of: String(words[2]))
    else { return nil }
    func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return Timestamp("\(year)-\(padded(month + 1))-\(padded(day))T\(words[4])Z")
  }
}
