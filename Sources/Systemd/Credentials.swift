import Glibc
public import Linux

/// Credentials that the service manager passed (`LoadCredential=`, `LoadCredentialEncrypted=`).
public enum Credentials {
  /// The size that systemd allows for all credentials of a unit together, in bytes.
  public static let maximumLength = 1 << 20

  /// Returns the bytes of a credential in `$CREDENTIALS_DIRECTORY`; nil if there is no such directory or credential.
  ///
  /// - Throws: if the name is invalid, or the credential can't be read, is not a regular file or is longer than
  ///   `limit`.
  public static func read(name: String, limit: Int = maximumLength) throws(CredentialError) -> [UInt8]? {
    guard let directory = Environment.value("CREDENTIALS_DIRECTORY") else { return nil }
    return try read(name: name, directory: directory, limit: limit)
  }

  /// Reads a credential directly into memory of the caller, such as a locked page, and leaves no other copy.
  ///
  /// - Returns: the number of bytes; nil if there is no such credential.
  /// - Throws: as ``read(name:limit:)``, where the limit is the length of the buffer.
  public static func read(
    name: String, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CredentialError) -> Int? {
    guard let directory = Environment.value("CREDENTIALS_DIRECTORY") else { return nil }
    guard let file = try open(name: name, directory: directory) else { return nil }
    defer { close(file.fileDescriptor) }
    guard file.length <= buffer.count else { throw .tooLarge(name, limit: buffer.count) }
    return try fill(buffer, from: file.fileDescriptor, name: name)
  }

  static func read(name: String, directory: String, limit: Int) throws(CredentialError) -> [UInt8]? {
    guard let file = try open(name: name, directory: directory) else { return nil }
    defer { close(file.fileDescriptor) }
    guard file.length <= limit else { throw .tooLarge(name, limit: limit) }
    // Filled in place: a buffer that grows would leave parts of the secret in freed memory.
    return try [UInt8](unsafeUninitializedCapacity: file.length) { (buffer, count) throws(CredentialError) in
      count = 0
      count = try fill(UnsafeMutableRawBufferPointer(buffer), from: file.fileDescriptor, name: name)
    }
  }

  private static func open(
    name: String, directory: String
  ) throws(CredentialError) -> (fileDescriptor: Int32, length: Int)? {
    guard isValid(name: name) else { throw .invalidName(name) }
    let folder = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return try missing("open the directory of credentials") }
    defer { close(folder) }
    let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return try missing("open credential \(name)") }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw .notAFile(name)
    }
    return (file, Int(status.st_size))
  }

  /// Returns nil if the file or directory does not exist. Throws for every other error.
  private static func missing<Value>(_ call: String) throws(CredentialError) -> Value? {
    let error = errno
    if error == ENOENT || error == ENOTDIR { return nil }
    throw .unreadable(SystemCallError(call, error))
  }

  private static func fill(
    _ buffer: UnsafeMutableRawBufferPointer, from file: Int32, name: String
  ) throws(CredentialError) -> Int {
    var count = 0
    while count < buffer.count {
      let status = Glibc.read(file, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      if status == 0 { break }
      if status > 0 {
        count += status
      } else if errno != EINTR {
        throw .unreadable(SystemCallError("read credential \(name)", errno))
      }
    }
    return count
  }

  /// Whether systemd accepts the name, and it has no special meaning in a path.
  static func isValid(name: String) -> Bool {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= 255, name != ".", name != ".." else { return false }
    return bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }
  }
}

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
