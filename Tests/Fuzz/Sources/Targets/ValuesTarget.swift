import Cryptography
import JSONRPC
import SDKInstances
import SDKProtocol

@testable import DelegateBridge
@testable import StateStore
@testable import sdkd

extension FuzzTarget {
  /// Cursors and the other short texts that have a grammar: one in each line.
  static let values = FuzzTarget("values", maximumLength: 2048) { input in
    for line in input.lines {
      cursor(line)
      if let time = Timestamp(line) {
        require(Timestamp(time.description)?.description == time.description, "\(line) is another time after writing.")
      }
      if let seconds = Seconds(text: line) { _ = seconds.duration }
      if let number = Double(line) {
        let time = Timestamp(secondsSince1970: number)
        require(Timestamp(time.description) != nil, "\(line) can't be written as a time.")
        _ = JSON(number).intValue
        if let seconds = Seconds(number) { _ = (Clock.now + seconds.value).description }
      }
      if let id = InstanceID(line) { require(id.name == line, "An instance id is another text.") }
      if let size = ByteCount(text: line) { require(size.bytes >= 0, "\(line) is a negative size.") }
      if let address = try? ListenAddress(line) {
        require((try? ListenAddress(address.description)) == address, "\(line) is another address after writing.")
      }
      for count in [0, 1, 7, 64] { clip(line, to: count) }
      _ = line.nearest(in: ["instance", "settings", "provider"])
      _ = TokenID(Secret(line)).description
      var answer = HTTPResponseParts(status: 429, headers: ["retry-after": line, "date": line])
      require((0...3600).contains(answer.retryAfter), "Retry-After \(line) means \(answer.retryAfter) s.")
      answer.headers["date"] = "Sun, 06 Nov 1994 08:49:37 GMT"
      require((0...3600).contains(answer.retryAfter), "Retry-After \(line) means \(answer.retryAfter) s.")
    }
  }

  private static let coder = CursorCoder(key: SymmetricKey(data: [UInt8](repeating: 1, count: 32)), stateID: "state")

  private static func cursor(_ text: String) {
    switch coder.read(text) {
    case .place(let place):
      require(coder.read(coder.encode(place)) == .place(place), "A cursor can't be made again.")
    case .foreign, .malformed: break
    }
    if let bytes = Base64URL.decode(text) {
      require(Base64URL.encode(bytes) == text, "Base64 has two spellings.")
      require(DecodedJWT.base64URL(text[...]) == bytes, "Base64 is read in two ways.")
    }
  }

  private static func clip(_ text: String, to count: Int) {
    let clipped = text.clipped(toUTF8: count)
    require(clipped.utf8.count <= count && text.utf8.starts(with: clipped.utf8), "A text is clipped to another one.")
    require(clipped.utf8.count + 4 > min(count, text.utf8.count), "A text is clipped too short.")
  }
}
