/// The ranges of uids that users may use in user namespaces (subuid(5)). They are numbers of one user, not of many.
struct SubordinateUids: Sendable, Hashable {
  /// The user of a range, as the file names it.
  enum Owner: Sendable, Hashable {
    case uid(UInt32)
    case name(String)
  }

  /// A range of uids.
  struct Range: Sendable, Hashable {
    let owner: Owner
    let first: UInt32
    let last: UInt32
  }

  /// The ranges, sorted, none of which overlaps another.
  let ranges: [Range]

  /// The largest file that is read, in bytes.
  static let maximumBytes = 1 << 20
  /// The maximum number of lines that are read.
  static let maximumLines = 32_768
  /// The longest name of a user, in bytes.
  private static let maximumName = 256

  /// Creates a table without ranges.
  init() { ranges = [] }

  /// Parses the text of `/etc/subuid`: lines `USER:FIRST:COUNT`. Lines of another form are ignored. Where ranges
  /// overlap, the one that begins earlier has the common uids.
  init(_ text: [UInt8]) {
    var found: [Range] = []
    for line in text.prefix(Self.maximumBytes).split(separator: UInt8(ascii: "\n")).prefix(Self.maximumLines) {
      if let range = Self.range(line) { found.append(range) }
    }
    found.sort { ($0.first, $1.last) < ($1.first, $0.last) }
    var ranges: [Range] = []
    for range in found {
      guard let former = ranges.last, range.first <= former.last else {
        ranges.append(range)
        continue
      }
      if range.last > former.last {
        ranges.append(Range(owner: range.owner, first: former.last + 1, last: range.last))
      }
    }
    self.ranges = ranges
  }

  private static func range(_ line: ArraySlice<UInt8>) -> Range? {
    let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard fields.count == 3, !fields[0].isEmpty, fields[0].count <= maximumName,
      let first = number(fields[1]), let count = number(fields[2]), count > 0
    else { return nil }
    // The uid 0 and the highest one belong to no range: root is nobody's, and -1 is no uid.
    let last = min(UInt64(first) + UInt64(count) - 1, UInt64(UInt32.max) - 1)
    guard first > 0, UInt64(first) <= last else { return nil }
    let owner = number(fields[0]).map(Owner.uid) ?? .name(String(decoding: fields[0], as: UTF8.self))
    return Range(owner: owner, first: first, last: UInt32(last))
  }

  /// Returns the number of decimal digits; `nil` for any other text and for more than 32 bits.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt32? {
    guard !digits.isEmpty, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self))
  }

  /// Returns the range that contains a uid; `nil` if there is none.
  func range(of uid: UInt32) -> Range? {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].last < uid { low = middle + 1 } else { high = middle }
    }
    guard low < ranges.count, ranges[low].first <= uid else { return nil }
    return ranges[low]
  }
}
