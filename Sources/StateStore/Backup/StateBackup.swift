public import SDKProtocol

/// A copy of the state, made while it was in use.
public struct StateBackup: Sendable, Hashable {
  /// What it is called: its file in `backups/` without `.db`.
  public var name: String
  /// The size of its file.
  public var bytes: Int
  /// The moment whose state it holds.
  public var createdAt: Timestamp

  /// A copy.
  public init(name: String, bytes: Int, createdAt: Timestamp) {
    self.name = name
    self.bytes = bytes
    self.createdAt = createdAt
  }

  private static let ownPrefix = "auto-"

  /// Whether it was given its name by the store, which may then remove it for newer ones.
  public var isOwn: Bool { name.hasPrefix(Self.ownPrefix) }

  /// The name that the store gives to a copy of this moment: `auto-20260102-030405`.
  static func ownName(at time: Timestamp) -> String { ownPrefix + time.fileName }

  /// Why a text is no name for a copy; `nil` if it is one.
  public static func mistake(inName name: String) -> String? {
    let allowed = name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
    }
    guard allowed, let first = name.utf8.first, first != 0x2D, first != 0x2E, first != 0x5F, name.utf8.count <= 64
    else {
      return "A copy's name has up to 64 of a-z, 0-9, dot, underscore and hyphen and begins with a letter or digit."
    }
    return name.hasPrefix(ownPrefix) ? "Names that begin with \(ownPrefix) are the daemon's own; choose another." : nil
  }
}

extension Timestamp {
  /// The time in UTC to the second, as file names have it: `20260102-030405`.
  var fileName: String {
    let digits = description.prefix(19).filter(\.isNumber)
    return "\(digits.prefix(8))-\(digits.dropFirst(8))"
  }
}
