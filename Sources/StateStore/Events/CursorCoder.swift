import Crypto
import SDKProtocol

/// Turns positions in the order of events into opaque cursors and back.
///
/// The cursor of a position is always the same text; without the key nobody can make one, change one, or see how
/// many events lie between two (a synthetic IV from HMAC-SHA256, which also masks the position). A cursor of another
/// state does not decode.
public struct CursorCoder: Sendable {
  private static let tagBytes = 16
  private static let positionBytes = 8

  private let authentication: SymmetricKey
  private let masking: SymmetricKey
  private let state: [UInt8]

  /// Cursors of the state with this id under a key of its own.
  init(key: SymmetricKey, stateID: String) {
    authentication = DerivedKey.derive(from: key, purpose: "cursor authentication")
    masking = DerivedKey.derive(from: key, purpose: "cursor masking")
    state = Array(stateID.utf8)
  }

  /// The cursor of a position; 0 stands before the first event.
  public func encode(_ position: UInt64) -> String {
    let tag = tag(of: position)
    return Base64URL.encode(tag + Self.bytes(of: position ^ mask(for: tag)))
  }

  /// The position of a cursor; `nil` if it was not made here or belongs to another state.
  public func decode(_ cursor: String) -> UInt64? {
    guard let bytes = Base64URL.decode(cursor), bytes.count == Self.tagBytes + Self.positionBytes else { return nil }
    let tag = Array(bytes.prefix(Self.tagBytes))
    let masked = bytes.suffix(Self.positionBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let position = masked ^ mask(for: tag)
    let difference = zip(tag, self.tag(of: position)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    return difference == 0 ? position : nil
  }

  private func tag(of position: UInt64) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: Self.bytes(of: position) + state, using: authentication))
      .prefix(Self.tagBytes).map { $0 }
  }

  private func mask(for tag: [UInt8]) -> UInt64 {
    HMAC<SHA256>.authenticationCode(for: tag, using: masking).prefix(Self.positionBytes)
      .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  private static func bytes(of position: UInt64) -> [UInt8] {
    (0..<positionBytes).map { UInt8(truncatingIfNeeded: position >> (8 * UInt64(positionBytes - 1 - $0))) }
  }
}
