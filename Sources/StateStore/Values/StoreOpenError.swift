internal import Glibc
internal import Linux
public import SDKProtocol

/// The reason why a state can't be opened.
public enum StoreOpenError: Error, Sendable, Hashable {
  /// Another daemon holds the directory.
  case stateInUse(directory: String)
  /// The directory is on a file system whose locks and memory maps can't be trusted.
  case networkFileSystem(directory: String, type: String)
  /// There is a state, but the key that opens it is missing.
  case keyMissing(String)
  /// Other users can read the key file.
  case keyTooOpen(path: String)
  /// The database is damaged or does not belong to sdkd.
  case corrupt(String)
  /// The database was written by a newer version.
  case newerSchema(found: Int, known: Int)
  /// There is no good backup to restore.
  case noBackup(String)
  /// The directory or a file in it can't be read or written.
  case unwritable(String)

  /// Returns the error for a failed system call on a file. The default error number is `errno`.
  static func unwritable(path: String, _ errorNumber: CInt = errno) -> StoreOpenError {
    .unwritable("\(path): \(SystemCallError.text(of: errorNumber))")
  }

  /// The corresponding permanent error of the protocol, for calls while the state is not open. An operator has to
  /// resolve the cause.
  public var sdkError: SDKError { text(unwritable: "put that right and restart").permanent }

  /// The corresponding temporary error of the protocol, for a directory that the daemon tries again until it can be
  /// used.
  public var healing: SDKError { text(unwritable: "free some space or make it writable; sdkd then goes on by itself") }

  private func text(unwritable advice: String) -> SDKError {
    switch self {
    case .stateInUse(let directory):
      .storeUnavailable("The state in \(directory) is held by another sdkd; stop it or choose another directory.")
    case .networkFileSystem(let directory, let type):
      .storeUnavailable("The state in \(directory) is on \(type), where locks are not reliable; use a local disk.")
    case .keyMissing(let why): SDKError(.store, .keyMissing, why)
    case .keyTooOpen(let path):
      SDKError(.store, .keyMissing, "The root key \(path) can be read by others; replace it or chmod 600 it.")
    case .corrupt(let what):
      .storeUnavailable(
        "The state is damaged (\(what)) and was left as it is; stop sdkd and restore a backup with sdkctl restore, or begin "
          + "anew with sdkctl restore --empty.")
    case .newerSchema(let found, let known):
      .storeUnavailable("The state has schema \(found), this sdkd knows \(known); install the newer version again.")
    case .noBackup(let why): .storeUnavailable(why)
    case .unwritable(let what): .storeUnavailable("The state can't be opened: \(what); \(advice).")
    }
  }
}
