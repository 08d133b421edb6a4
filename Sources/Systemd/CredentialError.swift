public import Linux

/// An error in reading a credential.
public enum CredentialError: Error, Hashable, CustomStringConvertible {
  /// The name is invalid: it could refer to a file outside the directory of credentials.
  case invalidName(String)
  /// The credential is not a regular file.
  case notAFile(String)
  /// The credential is longer than the caller's limit, in bytes.
  case tooLarge(String, limit: Int)
  /// Opening or reading failed.
  case unreadable(SystemCallError)

  /// A description that contains the credential's name and never its contents.
  public var description: String {
    switch self {
    case .invalidName(let name): "\"\(LineText.escaped(name))\" is no name for a credential"
    case .notAFile(let name): "the credential \(name) is no plain file"
    case .tooLarge(let name, let limit): "the credential \(name) is larger than \(limit) bytes"
    case .unreadable(let error): "a credential can't be read (\(error))"
    }
  }
}
