import SDKProtocol
import SQLite

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
      case .full: "the disk is full"
      case .busy, .locked: "another program uses the file"
      case .readOnly, .permission: "the file can't be written"
      case .cannotOpen: "the file or one beside it can't be opened"
      case .inputOutput: "the disk fails"
      case .noMemory: "there is not enough memory"
      case .corrupt, .notADatabase: "the file is damaged"
      default: nil
      }
    if error.resultCode == .full, let cause { return cause }
    let message = "\(error.message), SQLite code \(error.extendedResultCode.rawValue)"
    return cause.map { "\($0): \(message)" } ?? message
  }

  /// Returns the error for a change that was not made.
  static func refusal(_ error: any Error) -> SDKError {
    if let error = error as? DatabaseError, error.resultCode == .full {
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
      [.constraint, .tooBig, .mismatch, .range].contains(error.resultCode)
    case is SealError: true
    default: false
    }
  }

  /// Returns whether the failure says nothing about the content of the file, such as a full disk or another program that
  /// uses the file.
  static func isPassing(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError, !isDamage(error) else { return false }
    return [
      .full, .inputOutput, .cannotOpen, .busy, .locked, .readOnly, .permission,
      .noMemory, .interrupt, .lockProtocol,
    ].contains(error.resultCode)
  }

  /// Returns whether the failure means a damaged database and not a failing disk or another program. A short read means
  /// that the file is too short.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as DatabaseError:
      [.corrupt, .notADatabase].contains(error.resultCode)
        || error.extendedResultCode == .shortRead
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
