import NIOCore
import SDKInstances

/// The head of the response to an upgrade request.
struct UpgradeAnswer: Sendable {
  /// The status code.
  var status: Int
  /// The header fields, in order.
  var headers: [(name: String, value: String)]

  fileprivate init(_ lines: [String]) throws(HTTPFailure) {
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

/// A reader of the head of a response that arrives in pieces. It looks at each byte once, however small the pieces are.
struct UpgradeAnswerReader {
  /// The maximum bytes of a head.
  static let limit = 16 << 10

  private var lines: [String] = []
  private var line: [UInt8] = []
  private var length = 0

  /// Takes bytes up to the end of a head, and leaves those behind it.
  ///
  /// - Returns: the head; `nil` when it is incomplete. Informational responses, such as early hints, are skipped.
  mutating func read(_ bytes: inout ByteBuffer) throws(HTTPFailure) -> UpgradeAnswer? {
    while let byte = bytes.readInteger(as: UInt8.self) {
      length += 1
      guard length <= Self.limit else { throw .tooLarge }
      guard byte == 0x0A else {
        line.append(byte)
        continue
      }
      if line.last == 0x0D { line.removeLast() }
      guard line.isEmpty else {
        // The header fields that we evaluate are ASCII.
        lines.append(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
        continue
      }
      let answer = try UpgradeAnswer(lines)
      (lines, length) = ([], 0)
      if !(100..<200).contains(answer.status) || answer.status == 101 { return answer }
    }
    return nil
  }
}
