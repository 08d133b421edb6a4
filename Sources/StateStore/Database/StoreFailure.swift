import GRDB
import SDKProtocol

/// The descriptions of failures of the disk or the database, without stored values.
enum StoreFailure {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as DatabaseError: text(error)
    case StoreOpenError.unwritable(let what): what
    case let error as StoreOpenError: error.sdkError.message
    case let error as SealError: "\(error.what) failed"
    case let error as SDKError: error.message
    default: "an unexpected failure"
    }
  }

  /// Returns the cause in plain words, followed by SQLite's own message.
  private static func text(_ error: DatabaseError) -> String {
    let cause: String? =
      switch error.resultCode {
      case .SQLITE_FULL: "the disk is full"
      case .SQLITE_BUSY, .SQLITE_LOCKED: "another program uses the file"
      case .SQLITE_READONLY, .SQLITE_PERM: "the file can't be written"
      case .SQLITE_CANTOPEN: "the file or one beside it can't be opened"
      case .SQLITE_IOERR: "the disk fails"
      case .SQLITE_NOMEM: "there is not enough memory"
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: "the file is damaged"
      default: nil
      }
    if error.resultCode == .SQLITE_FULL, let cause { return cause }
    let message = "\(error.message ?? "SQLite failed"), SQLite code \(error.extendedResultCode.rawValue)"
    return cause.map { "\($0): \(message)" } ?? message
  }

  /// Returns the error for a change that was not made.
  static func refusal(_ error: any Error) -> SDKError {
    if let error = error as? DatabaseError, error.resultCode == .SQLITE_FULL {
      return .storeUnavailable("The disk is full and nothing was changed; free some space and try again.")
    }
    let refusal = SDKError.storeUnavailable(
      "The store can't write (\(text(error))) and nothing was changed; look at the disk.")
    return isDamage(error) ? refusal.permanent : refusal
  }

  /// Returns whether the failure concerns one statement and not the disk.
  static func isOfOneStatement(_ error: any Error) -> Bool {
    switch error {
    case let error as DatabaseError:
      [.SQLITE_CONSTRAINT, .SQLITE_TOOBIG, .SQLITE_MISMATCH, .SQLITE_RANGE].contains(error.resultCode)
    case is SealError: true
    default: false
    }
  }

  /// Returns whether the failure says nothing about the content of the file, such as a full disk or another program that
  /// uses the file.
  static func isPassing(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError, !isDamage(error) else { return false }
    return [
      .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_READONLY, .SQLITE_PERM,
      .SQLITE_NOMEM, .SQLITE_INTERRUPT, .SQLITE_PROTOCOL,
    ].contains(error.resultCode)
  }

  /// Returns whether the failure means a damaged database and not a failing disk or another program. A short read means
  /// that the file is too short.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as DatabaseError:
      [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
        || error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
    case StoreOpenError.corrupt: true
    default: false
    }
  }
}

/// The failure to open a sealed value: it was damaged, moved, rolled back, or sealed under another key.
struct SealError: Error, Hashable {
  /// The name of the value that could not be decrypted.
  let what: String
}
