import CSQLite

/// A result code of SQLite. The low 8 bits are the primary code; an extended code has more bits.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The code without the bits that make it an extended one.
  public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

  public static let permission = ResultCode(rawValue: SQLITE_PERM)
  public static let abort = ResultCode(rawValue: SQLITE_ABORT)
  public static let busy = ResultCode(rawValue: SQLITE_BUSY)
  public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  public static let noMemory = ResultCode(rawValue: SQLITE_NOMEM)
  public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  public static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
  public static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  public static let full = ResultCode(rawValue: SQLITE_FULL)
  public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  public static let lockProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  public static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  public static let range = ResultCode(rawValue: SQLITE_RANGE)
  public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  /// A file is shorter than its content says.
  public static let shortRead = ResultCode(rawValue: SQLITE_IOERR | (2 << 8))
  public static let failedWrite = ResultCode(rawValue: SQLITE_IOERR | (3 << 8))
  public static let failedSync = ResultCode(rawValue: SQLITE_IOERR | (4 << 8))
}

/// A failure of SQLite or of its use. It never contains arguments of a statement, which may be secret.
public struct DatabaseError: Error, Hashable, CustomStringConvertible {
  /// The code with the bits of an extended code, if SQLite gives one.
  public let extendedResultCode: ResultCode
  /// SQLite's own words, such as "database or disk is full".
  public let message: String

  /// Creates an error with SQLite's general words for the code if there is no message.
  public init(resultCode: ResultCode, message: String? = nil) {
    extendedResultCode = resultCode
    let general: UnsafePointer<CChar>? = sqlite3_errstr(resultCode.rawValue)
    self.message = message ?? general.map { String(cString: $0) } ?? "unknown error"
  }

  /// The primary code.
  public var resultCode: ResultCode { extendedResultCode.primary }

  public var description: String { "SQLite error \(extendedResultCode.rawValue): \(message)" }

  /// The error for a connection or a statement of one that was closed.
  static let closed = DatabaseError(resultCode: .misuse, message: "the connection is closed")
}
