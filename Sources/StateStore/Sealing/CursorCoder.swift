package import Cryptography
import SDKProtocol

/// A coder that converts positions in the event order into opaque cursors and back.
///
/// Without the key, a cursor can't be created or changed, and the number of events between two cursors stays hidden.
/// The tag of a cursor is a synthetic IV from HMAC-SHA256, which also masks the position.
///
/// The cursor of an event's position is always the same text. The cursor of an `EventPlace` differs each time, so that
/// comparing two does not reveal whether events lie between them. A cursor of another state does not decode.
public struct CursorCoder: Sendable {
  private static let tagBytes = 16
  private static let numberBytes = 8

  private let authentication: AuthenticationKey
  private let masking: AuthenticationKey
  private let state: [UInt8]

  /// Creates a coder for the state with this ID, with a key used only for cursors.
  package init(key: SymmetricKey, stateID: String) {
    authentication = AuthenticationKey(DerivedKey.derive(from: key, purpose: "cursor authentication"))
    masking = AuthenticationKey(DerivedKey.derive(from: key, purpose: "cursor masking"))
    state = Array(stateID.utf8)
  }

  /// Returns the cursor of an event's position; 0 is the position before the first event.
  public func encode(_ position: UInt64) -> String { encode([position], nonce: []) }

  /// Returns a cursor of a place in the event order, a different text each time.
  public func encode(_ place: EventPlace) -> String {
    encode(
      [place.position, place.acknowledged, place.losses], nonce: UInt64.random(in: .min ... .max).bigEndianBytes)
  }

  /// Returns the position in a cursor, or `nil` if the cursor is invalid or belongs to another state.
  public func decode(_ cursor: String) -> UInt64? {
    if case .place(let place) = read(cursor) { place.position } else { nil }
  }

  /// Decodes a text that was received as a cursor.
  public func read(_ cursor: String) -> CursorReading {
    guard let bytes = Base64URL.decode(cursor) else { return .malformed }
    let words = (bytes.count - Self.tagBytes) / Self.numberBytes
    // Earlier versions wrote a place without the number of losses.
    guard [1, 3, 4].contains(words), bytes.count == Self.tagBytes + words * Self.numberBytes else { return .malformed }
    let tag = Array(bytes.prefix(Self.tagBytes))
    let body = bytes.dropFirst(Self.tagBytes)
    let mask = mask(for: tag)
    let numbers = (0..<max(1, words - 1)).map { index in
      Self.number(index, in: body) ^ mask[index]
    }
    let nonce = words > 1 ? Array(body.suffix(Self.numberBytes)) : []
    let difference = zip(tag, self.tag(of: numbers, nonce)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    guard difference == 0 else { return .foreign }
    return .place(
      EventPlace(
        numbers[0], acknowledged: numbers.count > 1 ? numbers[1] : 0, losses: numbers.count > 2 ? numbers[2] : 0))
  }

  private func encode(_ numbers: [UInt64], nonce: [UInt8]) -> String {
    let tag = tag(of: numbers, nonce)
    let masked = zip(numbers, mask(for: tag)).flatMap { ($0 ^ $1).bigEndianBytes }
    return Base64URL.encode(tag + masked + nonce)
  }

  private func tag(of numbers: [UInt64], _ nonce: [UInt8]) -> [UInt8] {
    let message = numbers.flatMap { $0.bigEndianBytes } + nonce + state
    return Array(authentication.code(of: message).prefix(Self.tagBytes))
  }

  private func mask(for tag: [UInt8]) -> [UInt64] {
    let code = masking.code(of: tag)
    return (0..<3).map { Self.number($0, in: code[...]) }
  }

  private static func number(_ index: Int, in bytes: ArraySlice<UInt8>) -> UInt64 {
    UInt64(bigEndianBytes: bytes.dropFirst(index * numberBytes).prefix(numberBytes))
  }
}

/// The result of decoding a text as a cursor.
public enum CursorReading: Sendable, Hashable {
  /// A valid cursor of this state.
  case place(EventPlace)
  /// A well-formed cursor of another state, or a forged one.
  case foreign
  /// A text that does not have the format of a cursor.
  case malformed
}

/// Base64 for URLs without padding (RFC 4648, section 5). Decoding accepts one spelling for each sequence of bytes, and
/// at most 128 characters.
enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var pending: UInt32 = 0
    var bits = 0
    for byte in bytes {
      pending = (pending << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(pending >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(pending << UInt32(6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  static func decode(_ text: String) -> [UInt8]? {
    guard text.utf8.count <= 128 else { return nil }
    var bytes: [UInt8] = []
    var pending: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      pending = (pending << 6 | UInt32(value)) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    return encode(bytes) == text ? bytes : nil
  }
}
