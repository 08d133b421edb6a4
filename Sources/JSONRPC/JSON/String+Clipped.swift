extension String {
  /// Returns the longest prefix of whole Unicode scalars that has at most `count` bytes in UTF-8.
  ///
  /// Unlike `prefix(_:)`, which counts characters, it bounds the size: a single character can have any number of bytes.
  public func clipped(toUTF8 count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: Swift.max(0, count))
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end])
  }
}
