import Foundation
import JSONRPC
import SDKInstances

@testable import SDKKinds
@testable import SDKProtocol
@testable import StateStore

extension FuzzTarget {
  /// A vendor that repeats the secrets of a request. The first part has a secret in each line, the others are texts of the
  /// vendor. `{0}` in them is the first secret, `{0:pj}` the same in encodings, and `{0,3,20}` a piece of it.
  static let echo = FuzzTarget("echo", maximumLength: 4 << 10, costFactor: 120) { input in
    let parts = input.parts
    let secrets = parts[0].split(separator: UInt8(ascii: "\n")).prefix(3).map {
      String(decoding: $0.prefix(256), as: UTF8.self)
    }
    let sent = secrets.map { Secret($0) }
    let forbidden = RepeatedParts(secrets)
    for part in parts.dropFirst().prefix(4) {
      let text = Template.text(part, secrets)
      var shown = Set([SentSecrets(sent).removed(from: text), VendorText(text, without: SentSecrets(sent)).text])
      for (response, neutral) in zip(responses(text, sent), responses("x", sent)) {
        let error = failure(response)
        Check.error(error)
        shown.formUnion([error.vendorCode?.text, error.vendorDescription?.text].compactMap(\.self))
        forbidden.check(error.message, besides: failure(neutral).message)
      }
      for text in shown { forbidden.check(text) }
    }
  }

  /// Responses with a vendor's text at each place of which something is shown.
  private static func responses(_ text: String, _ sent: [Secret]) -> [HTTPResponseParts] {
    let word: JSON = .string(text)
    let bodies: [JSON] = [
      ["error": ["code": word, "description": word]], ["error": "invalid_request", "error_description": word],
      ["error": word, "errorDetails": word], [["errorCode": word, "message": word]],
    ]
    let headers = ["location": "https://\(text).example/\(text)", "content-encoding": text, "retry-after": text]
    return bodies.map { HTTPResponseParts(status: 400, body: JSONWriter.bytes(of: $0), sent: sent) } + [
      HTTPResponseParts(status: 302, headers: headers, sent: sent),
      HTTPResponseParts(status: 200, headers: headers, body: Array("<".utf8), sent: sent),
    ]
  }

  private static func failure(_ response: HTTPResponseParts) -> SDKError {
    switch VendorAnswer(response, vendor: "A vendor", setting: "url") {
    case .unusable(let error): error
    case .unauthorized(let status, let code, let description):
      SDKError(
        .vendor, .invalidAuth, "Refused.", httpStatus: status, vendorCode: code, vendorDescription: description)
    case .forbidden(let code, let description):
      SDKError(.vendor, .forbidden, "Refused.", vendorCode: code, vendorDescription: description)
    case .accepted, .notFound: SDKError(.vendor, .notFound, "Not found.")
    }
  }
}

/// A text in which a vendor repeats secrets.
private enum Template {
  static func text(_ template: ArraySlice<UInt8>, _ secrets: [String]) -> String {
    var text: [UInt8] = []
    var rest = template.prefix(512)
    while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
      text += rest[..<open]
      rest = rest[(open + 1)...]
      guard let close = rest.prefix(24).firstIndex(of: UInt8(ascii: "}")),
        let value = value(String(decoding: rest[..<close], as: UTF8.self), secrets)
      else {
        text.append(UInt8(ascii: "{"))
        continue
      }
      text += value
      rest = rest[(close + 1)...]
    }
    return String(decoding: text + rest, as: UTF8.self)
  }

  private static func value(_ words: String, _ secrets: [String]) -> [UInt8]? {
    let halves = words.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = halves[0].split(separator: ",").map { Int($0) ?? -1 }
    guard let number = numbers.first, secrets.indices.contains(number), numbers.allSatisfy({ $0 >= 0 }) else {
      return nil
    }
    var bytes = Array(secrets[number].utf8)[...]
    if numbers.count > 1 { bytes = bytes.dropFirst(numbers[1]) }
    if numbers.count > 2 { bytes = bytes.prefix(numbers[2]) }
    return (halves.count > 1 ? halves[1] : "").utf8.prefix(2).reduce(Array(bytes)) { encoded($0, $1) }
  }

  private static func encoded(_ bytes: [UInt8], _ way: UInt8) -> [UInt8] {
    switch way {
    case UInt8(ascii: "p"): Array(PercentEncoding.value(String(decoding: bytes, as: UTF8.self)).utf8)
    case UInt8(ascii: "q"): bytes.flatMap { Array(("%" + ($0 < 16 ? "0" : "") + String($0, radix: 16)).utf8) }
    case UInt8(ascii: "f"): bytes.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
    case UInt8(ascii: "j"):
      Array(JSONWriter.bytes(of: .string(String(decoding: bytes, as: UTF8.self))).dropFirst().dropLast())
    case UInt8(ascii: "s"): bytes.flatMap { $0 == UInt8(ascii: "/") ? Array("\\/".utf8) : [$0] }
    case UInt8(ascii: "u"):
      String(decoding: bytes, as: UTF8.self).utf16.flatMap { unit in
        let digits = String(unit, radix: 16)
        return Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
      }
    case UInt8(ascii: "b"): Array(Data(bytes).base64EncodedString().utf8)
    case UInt8(ascii: "c"): Array(Data(":".utf8 + bytes).base64EncodedString().utf8)
    case UInt8(ascii: "d"): Array(Data("a:".utf8 + bytes).base64EncodedString().utf8)
    case UInt8(ascii: "w"): Array(Base64URL.encode(bytes).utf8)
    case UInt8(ascii: "l"): Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8)
    default: bytes
    }
  }
}

/// The parts of secrets that no shown text may have, and readings of texts: made in another way than `SentSecrets` does.
private struct RepeatedParts {
  /// Twelve bytes of a secret are masked wherever they are.
  private static let length = 12
  private var parts: Set<[UInt8]> = []

  init(_ secrets: [String]) {
    // A secret that is like the mark can't be told from it.
    for secret in secrets where !secret.lowercased().contains("mask") && !secret.contains("‹") && !secret.contains("›")
    {
      insert(Array(secret.utf8))
      insert(Array(Data(secret.utf8).base64EncodedString().utf8.prefix { $0 != UInt8(ascii: "=") }))
    }
  }

  private mutating func insert(_ bytes: [UInt8]) {
    guard bytes.count >= Self.length else { return }
    for start in 0...(bytes.count - Self.length) { parts.insert(Array(bytes[start..<(start + Self.length)])) }
  }

  /// Fails the input if a text has a part.
  func check(_ text: String, besides allowed: String = "") {
    var readings = Set([Array(text.utf8)])
    for _ in 0..<2 { readings.formUnion(readings.flatMap { [Self.unescaped($0), Self.decoded($0)] }) }
    for reading in readings where reading.count >= Self.length {
      for start in 0...(reading.count - Self.length) {
        let part = Array(reading[start..<(start + Self.length)])
        guard parts.contains(part) else { continue }
        let shown = String(decoding: part, as: UTF8.self)
        require(allowed.contains(shown), "A text repeats \(shown) of a secret: \(text)")
      }
    }
  }

  private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2, rest.prefix(2).allSatisfy({ isxdigit(Int32($0)) != 0 }),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        result.append(value)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// JSON's own parser reads the escapes, in a text whose other characters it takes too.
  private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\\"):
        let next = rest.first ?? 0
        let isUnit =
          next == UInt8(ascii: "u") && rest.count > 4
          && rest.dropFirst().prefix(4).allSatisfy { isxdigit(Int32($0)) != 0 }
        if isUnit || "\"\\/bfnrt".utf8.contains(next) {
          text += [byte, next]
          rest = rest.dropFirst()
        } else {
          text += [byte, byte]
        }
      case UInt8(ascii: "\""), 0..<0x20:
        text += Array("\\u00".utf8) + [0x30 + byte >> 4] + Array(String(byte & 15, radix: 16).utf8)
      default: text.append(byte)
      }
    }
    let parsed = try? JSONParser.parse([UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])
    return parsed?.stringValue.map { Array($0.utf8) } ?? bytes
  }
}
