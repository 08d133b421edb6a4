extension String {
  /// Returns the candidate with the smallest edit distance to this text; `nil` if none is close enough to be a typo of
  /// it.
  public func nearest(in candidates: some Sequence<String>) -> String? {
    // Only the first 128 scalars are compared: no name is longer, and a long text should not cost more.
    let own = Array(String(unicodeScalars.prefix(128)).lowercased().unicodeScalars)
    let limit = own.count / 3 + 1
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let distance = Self.distance(own, Array(candidate.lowercased().unicodeScalars))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// Returns the number of edits that turn one text into the other; a swap of neighbours counts once.
  private static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
    if one.isEmpty || other.isEmpty { return one.count + other.count }
    var beforePrevious: [Int] = []
    var previous = Array(0...other.count)
    for i in 1...one.count {
      var row = [i]
      row.reserveCapacity(other.count + 1)
      for j in 1...other.count {
        let cost = one[i - 1] == other[j - 1] ? 0 : 1
        var value = Swift.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost)
        if i > 1, j > 1, one[i - 1] == other[j - 2], one[i - 2] == other[j - 1] {
          value = Swift.min(value, beforePrevious[j - 2] + 1)
        }
        row.append(value)
      }
      beforePrevious = previous
      previous = row
    }
    return previous[other.count]
  }
}
