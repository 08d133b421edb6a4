import SDKInstances

/// The head of the response to an upgrade request.
struct UpgradeAnswer: Sendable {
  /// The status code.
  var status: Int
  /// The header fields, in order.
  var headers: [(name: String, value: String)]

  /// The maximum bytes of a head.
  static let limit = 16 << 10

  /// Reads a head from the beginning of `bytes`; `nil` when it is incomplete.
  ///
  /// - Returns: the head and its number of bytes.
  static func read(_ bytes: some Collection<UInt8>) throws(HTTPFailure) -> (answer: UpgradeAnswer, length: Int)? {
    var lines: [String] = []
    var line: [UInt8] = []
    var length = 0
    for byte in bytes {
      length += 1
      guard length <= limit else { throw .tooLarge }
      guard byte == 0x0A else {
        line.append(byte)
        continue
      }
      if line.last == 0x0D { line.removeLast() }
      if line.isEmpty { return (try UpgradeAnswer(lines), length) }
      // The header fields that we evaluate are ASCII.
      lines.append(String(decoding: line, as: UTF8.self))
      line.removeAll(keepingCapacity: true)
    }
    return nil
  }

  private init(_ lines: [String]) throws(HTTPFailure) {
    let malformed = HTTPFailure.network("the answer is not HTTP")
    let first = (lines.first ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard first.count >= 2, first[0] == "HTTP/1.1" || first[0] == "HTTP/1.0", first[1].utf8.count == 3,
      first[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let status = Int(first[1]), status >= 100
    else { throw malformed }
    self.status = status
    headers = []
    for line in lines.dropFirst() {
      // NIO traps on a name that is not ASCII.
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]),
        !line.utf8.contains(0x0D)
      else { throw malformed }
      let name = line[..<colon]
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      let end = value.lastIndex { $0 != " " && $0 != "\t" }.map { value.index(after: $0) } ?? value.startIndex
      headers.append((name: String(name), value: String(value[..<end])))
    }
  }

  /// Whether a text can be the name of a header field or a subprotocol (RFC 9110, 5.6.2).
  static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
