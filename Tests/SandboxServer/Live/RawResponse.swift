import Foundation
import JSONRPC

@testable import SandboxServer

/// A response as received so far, complete or not.
struct RawResponse: Sendable {
  let status: Int
  /// The headers by lower-case name, each with its last value.
  let headers: [String: String]
  let body: Data

  /// Parses a response. Returns `nil` while the head is incomplete.
  init?(_ bytes: Data) {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
    self.status = status
    headers = lines.dropFirst().reduce(into: [:]) { headers, line in
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    }
    body = Data(bytes[end.upperBound...])
  }

  var length: Int? { headers["content-length"].flatMap { Int($0) } }

  var isWhole: Bool { length.map { body.count >= $0 } ?? false }

  var tree: JSON? { JSON(parsing: body) }
}
