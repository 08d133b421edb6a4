extension String {
  /// Returns the candidate with the smallest edit distance to this text; `nil` if none is close enough to be a typo of
  /// it. A candidate that means the opposite, such as `authorize` for `deauthorise`, is none.
  public func nearest(in candidates: some Sequence<String>) -> String? {
    let own = Self.comparable(self)
    let limit = own.count / 3 + 1
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let other = Self.comparable(candidate)
      let distance = Self.distance(own, other)
      guard distance <= limit, distance < best?.distance ?? .max, !Self.areOpposites(own, other) else { continue }
      best = (candidate, distance)
    }
    return best?.name
  }

  /// Returns the name of a method that this name probably means; `nil` if there is none. A method whose last part is
  /// the word, or begins with it, comes before one that is only spelled alike.
  public func nearestMethod(in names: some Sequence<String>) -> String? {
    func last(_ name: [Unicode.Scalar]) -> [Unicode.Scalar] { name.split(separator: ".").last.map(Array.init) ?? [] }
    let names = Array(names).sorted()
    let own = last(Self.comparable(self))
    let endings = names.map { (name: $0, last: last(Self.comparable($0))) }
    let same = endings.filter { $0.last == own }.map(\.name)
    let longer = endings.filter { own.count > 3 && $0.last.starts(with: own) }.map(\.name)
    for found in [same, longer] {
      if let only = found.count == 1 ? found.first : nearest(in: found) { return only }
    }
    return nearest(in: names)
  }

  /// Returns the scalars to compare. Only the first 128 count: no name is longer, and a long text should not cost more.
  private static func comparable(_ text: String) -> [Unicode.Scalar] {
    Array(String(text.unicodeScalars.prefix(128)).lowercased().unicodeScalars)
  }

  /// Whether one name means the opposite of the other: it is nearer to it without a prefix such as `un`.
  private static func areOpposites(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Bool {
    let (one, other) = (one.split(separator: ".").last ?? [], other.split(separator: ".").last ?? [])
    func isNegation(_ long: ArraySlice<Unicode.Scalar>, of short: ArraySlice<Unicode.Scalar>) -> Bool {
      ["un", "de", "dis"].contains { prefix in
        long.starts(with: prefix.unicodeScalars) && !short.starts(with: prefix.unicodeScalars)
          && distance(Array(long.dropFirst(prefix.count)), Array(short)) < distance(Array(long), Array(short))
      }
    }
    return isNegation(one, of: other) || isNegation(other, of: one)
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
