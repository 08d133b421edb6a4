internal import NIOCore

/// The way in which the messages of a connection are delimited, in both directions. The peer's first bytes choose it.
public enum Framing: Sendable {
  /// One JSON text per line.
  case lines
  /// The base protocol of the Language Server Protocol: header fields with the length of the JSON text, then the text.
  case headers
  /// HTTP, which is not served. The request is answered with an error, which has the status 400.
  case http
  /// Another protocol: bytes that begin neither a JSON text nor a header. The connection ends with an error, so that
  /// JSON in later lines is not run.
  case foreign

  /// The first bytes of HTTP requests. A browser can be made to send such requests to any socket that it reaches.
  private static let requests = [
    "GET ", "POST ", "HEAD ", "PUT ", "OPTIONS ", "DELETE ", "PATCH ", "TRACE ", "PRI ",
  ]

  /// Returns the framing of a connection that begins with `bytes`; `nil` if more bytes must decide.
  init?(firstBytes bytes: ArraySlice<UInt8>) {
    guard let first = bytes.first else { return nil }
    self = Self.beginsLine(first) ? .lines : .foreign
    if first == UInt8(ascii: "C") || first == UInt8(ascii: "c") {
      self = .headers
    } else if first < UInt8(ascii: "["), Self.requests.contains(where: { bytes.starts(with: $0.utf8) }) {
      self = .http
    } else if first < UInt8(ascii: "["), Self.requests.contains(where: { $0.utf8.starts(with: bytes) }) {
      return nil
    }
  }

  /// Whether a connection whose messages are lines can begin with this byte: that of a JSON text, of white space or of a
  /// byte order mark.
  private static func beginsLine(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"), 0x20, 0x09, 0x0A,
      0x0D, 0xEF:
      true
    default: false
    }
  }
}

extension ByteBuffer {
  /// Writes the JSON text that `text` writes, as one message in a framing. Returns the number of bytes.
  @discardableResult
  mutating func writeMessage(_ framing: Framing, _ text: (inout ByteBuffer) -> Void) -> Int {
    let start = writerIndex
    if framing == .lines || framing == .foreign {
      text(&self)
      writeInteger(UInt8(ascii: "\n"))
      return writerIndex - start
    }
    var body = ByteBuffer()
    text(&body)
    if framing == .http {
      writeStaticString("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n")
    }
    writeString("Content-Length: \(body.readableBytes)\r\n\r\n")
    writeBuffer(&body)
    return writerIndex - start
  }
}
