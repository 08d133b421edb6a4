import Digests

/// A root key in the form that people write down: 56 letters and digits in groups of four, with a checksum against
/// typos.
struct RecoveryKey: Equatable {
  static let byteCount = 32
  private static let checkBytes = 3
  /// The Base32 alphabet of RFC 4648. Look-alikes are read as letters: 0 as O, 1 as I, 8 as B.
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  let bytes: [UInt8]

  /// Creates a random key.
  init() {
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Creates the key of these bytes; `nil` unless there are 32.
  init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads a key that was written down; `nil` if it is malformed. Case, spaces and hyphens don't matter.
  init?(text: [UInt8]) {
    var all: [UInt8] = []
    var (pending, bits): (UInt32, Int) = (0, 0)
    for character in text where ![0x20, 0x2D, 0x0A, 0x0D, 0x09].contains(character) {
      let upper = (0x61...0x7A).contains(character) ? character - 0x20 : character
      let meant = [0x30: 0x4F, 0x31: 0x49, 0x38: 0x42][upper] ?? upper
      guard let value = Self.alphabet.firstIndex(of: meant), all.count < Self.byteCount + Self.checkBytes else {
        return nil
      }
      pending = (pending << 5 | UInt32(value)) & 0xFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        all.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    let key = Array(all.prefix(Self.byteCount))
    guard all.count == Self.byteCount + Self.checkBytes, Array(all.suffix(Self.checkBytes)) == Self.check(key) else {
      return nil
    }
    bytes = key
  }

  private static func check(_ key: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(Array("sdkd recovery key".utf8) + key).prefix(checkBytes))
  }

  /// The key in the form that is shown once.
  var text: String {
    var letters: [UInt8] = []
    var (pending, bits): (UInt32, Int) = (0, 0)
    for byte in bytes + Self.check(bytes) {
      pending = (pending << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 5 {
        bits -= 5
        letters.append(Self.alphabet[Int(pending >> UInt32(bits) & 31)])
      }
    }
    return stride(from: 0, to: letters.count, by: 4)
      .map { String(decoding: letters[$0..<min($0 + 4, letters.count)], as: UTF8.self) }.joined(separator: "-")
  }
}
