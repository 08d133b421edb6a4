/// Why a credential that was asked for can't be used, though it may be there.
public enum CredentialError: Error, Hashable, CustomStringConvertible {
  /// The name could mean something outside the directory of credentials.
  case invalidName(String)
  /// It is something else than a plain file.
  case notAFile(String)
  /// It has more bytes than the caller takes.
  case tooLarge(String, limit: Int)
  /// Opening or reading failed.
  case unreadable(SystemCallError)

  /// A sentence that names the credential and never its contents.
  public var description: String {
    switch self {
    case .invalidName(let name): "\"\(LineText.escaped(name))\" is no name for a credential"
    case .notAFile(let name): "the credential \(name) is no plain file"
    case .tooLarge(let name, let limit): "the credential \(name) is larger than \(limit) bytes"
    case .unreadable(let error): "a credential can't be read (\(error))"
    }
  }
}
