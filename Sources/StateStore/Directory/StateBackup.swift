public import SDKProtocol

/// A backup of the state, made while the state was in use.
public struct StateBackup: Sendable, Hashable {
  /// The backup's name: that of its file in `backups/` without `.db`.
  public var name: String
  /// The size of the file in bytes.
  public var bytes: Int
  /// The time of the state that the backup holds.
  public var createdAt: Timestamp

  private static let ownPrefix = "auto-"

  /// Whether the store generated the name. The store deletes such backups in favor of newer ones.
  public var isOwn: Bool { name.hasPrefix(Self.ownPrefix) }

  /// Returns the generated name of a backup made at this time, such as `auto-20260102-030405`.
  static func ownName(at time: Timestamp) -> String { ownPrefix + time.fileName }

  /// Returns why a text is not a valid name for a backup, or `nil` if it is valid.
  public static func mistake(inName name: String) -> String? {
    let allowed = name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
    }
    guard allowed, let first = name.utf8.first, first != 0x2D, first != 0x2E, first != 0x5F, name.utf8.count <= 64
    else {
      return "A backup's name has up to 64 of a-z, 0-9, dot, underscore and hyphen and begins with a letter or digit."
    }
    return name.hasPrefix(ownPrefix) ? "Names that begin with \(ownPrefix) are the daemon's own; choose another." : nil
  }
}

extension Timestamp {
  /// The time in UTC to the second, in the form for file names: `20260102-030405`.
  var fileName: String {
    let digits = description.prefix(19).filter(\.isNumber)
    return "\(digits.prefix(8))-\(digits.dropFirst(8))"
  }
}
