import GRDB
import SDKProtocol

/// The descriptions of failures of the disk or the database, without stored values.
enum StoreFailure {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as DatabaseError:
      switch error.resultCode {
      case .SQLITE_FULL: "the disk is full"
      default: "\(error.message ?? "SQLite failed"), SQLite code \(error.extendedResultCode.rawValue)"
      }
    case let error as StoreOpenError: error.sdkError.message
    case let error as SealError: "\(error.what) failed"
    case let error as SDKError: error.message
    default: "an unexpected failure"
    }
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

  /// Returns whether the disk is full or failing. A short read is a fault of the file, which is too short.
  static func isOfDisk(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    return [.SQLITE_FULL, .SQLITE_IOERR].contains(error.resultCode)
      && error.extendedResultCode != .SQLITE_IOERR_SHORT_READ
  }

  /// Returns whether the failure means a damaged database and not a failing disk.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as DatabaseError: [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode)
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
