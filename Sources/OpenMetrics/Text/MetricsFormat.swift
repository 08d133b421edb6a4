/// The text formats of metrics.
public enum MetricsFormat: Sendable, CaseIterable {
  /// Prometheus' classic text format 0.0.4, which all readers know.
  case classic
  /// OpenMetrics 1.0.
  case openMetrics

  /// The content type of a text in this format.
  public var contentType: String {
    switch self {
    case .classic: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    }
  }

  /// Chooses the format for the `Accept` header of a request, as Prometheus' client libraries do: the known format with
  /// the highest quality, of equal ones the first. Without a known format it is the classic one.
  ///
  /// - Parameter accept: the media ranges with their parameters, such as `text/plain;version=0.0.4;q=0.5`.
  public init(accept: some Sequence<some StringProtocol>) {
    self = .classic
    var best = 0.0
    for range in accept {
      var parts = range.split(separator: ";").map { Self.trimmed($0).lowercased() }
      guard !parts.isEmpty else { continue }
      let type = parts.removeFirst()
      let quality = Self.parameter("q", in: parts).map(Self.quality) ?? 1
      let version = Self.parameter("version", in: parts)
      guard quality > best, let format = Self.format(type, version: version) else { continue }
      best = quality
      self = format
    }
  }

  private static func format(_ type: String, version: String?) -> MetricsFormat? {
    switch (type, version) {
    case ("application/openmetrics-text", nil), ("application/openmetrics-text", "1.0.0"),
      ("application/openmetrics-text", "0.0.1"):
      .openMetrics
    case ("text/plain", nil), ("text/plain", "0.0.4"), ("text/*", _), ("*/*", _): .classic
    default: nil
    }
  }

  /// Returns the value of a parameter without quotes; `nil` if there is none.
  private static func parameter(_ name: String, in parameters: [String]) -> String? {
    for parameter in parameters {
      let pair = parameter.split(separator: "=", maxSplits: 1).map(Self.trimmed)
      if pair.count == 2, pair[0] == name { return pair[1].filter { $0 != "\"" } }
    }
    return nil
  }

  /// Returns a quality (RFC 9110, section 12.4.2). A text that is not a number from 0 to 1 counts as 1.
  private static func quality(_ text: String) -> Double {
    Double(text).flatMap { (0...1).contains($0) ? $0 : nil } ?? 1
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    let rest = text.drop(while: isSpace)
    return String(rest.prefix(upTo: rest.lastIndex { !isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex))
  }
}
