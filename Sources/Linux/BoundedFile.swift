public import Glibc

/// A regular file read as a whole, up to a limit; and the first bytes of any file.
public struct BoundedFile: Sendable {
  /// The contents.
  public let bytes: [UInt8]
  /// The permissions and the owners of the file.
  public let mode: FileMode

  /// Reads a file of at most `limit` bytes. A pipe or device is refused without waiting for it.
  public init(reading path: String, limit: Int) throws(FileProblem) {
    guard !path.utf8.contains(0) else { throw .system(ENOENT) }
    // Without O_NONBLOCK, opening a pipe that has no writer would block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .system(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    guard status.st_size <= limit else { throw .tooLarge(limit) }
    bytes = try Self.contents(of: descriptor, limit: limit)
    mode = FileMode(bits: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid)
  }

  /// Reads a descriptor from its position to its end.
  ///
  /// - Throws: `tooLarge` for more than `limit` bytes.
  public static func contents(of descriptor: CInt, limit: Int) throws(FileProblem) -> [UInt8] {
    let bytes = try beginning(of: descriptor, limit: limit + 1)
    guard bytes.count <= limit else { throw .tooLarge(limit) }
    return bytes
  }

  /// Returns the first bytes of a file, at most `limit`; `nil` if it can't be read.
  public static func beginning(at path: String, limit: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return try? beginning(of: descriptor, limit: limit)
  }

  /// Returns the first bytes of a file as text, such as of one in `/proc`, which has no size; `nil` if it can't be read.
  /// Invalid UTF-8 is repaired.
  public static func text(at path: String, limit: Int) -> String? {
    beginning(at: path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func beginning(of descriptor: CInt, limit: Int) throws(FileProblem) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(limit, 8 << 10))
    while bytes.count < limit {
      let count = read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
      if count == 0 { break }
      if count > 0 {
        bytes += chunk[..<count]
      } else if errno != EINTR {
        throw .system(errno)
      }
    }
    return bytes
  }
}

/// The permissions and the owners of a file.
public struct FileMode: Sendable, Hashable {
  /// The permission bits.
  public var bits: mode_t
  /// The owner.
  public var owner: uid_t
  /// The group.
  public var group: gid_t

  /// A mode with these parts.
  public init(bits: mode_t, owner: uid_t, group: gid_t) {
    self.bits = bits
    self.owner = owner
    self.group = group
  }

  /// Whether everyone can write it.
  public var isWritableByAnyone: Bool { bits & S_IWOTH != 0 }

  /// Whether users other than its owner, root and the daemon can read it. Group access is allowed if the file is root's
  /// and the group is the daemon's own: packages give a daemon read-only files in this way.
  public var isReadableByOthers: Bool {
    if bits & S_IROTH != 0 { return true }
    guard bits & S_IRGRP != 0 else { return false }
    return owner != 0 || group != getegid()
  }
}

/// The reason why a file could not be read. The description fits after "The file".
public enum FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system refuses it with this error number.
  case system(Int32)
  /// It is a directory, a pipe or a device.
  case notAFile
  /// It has more than this number of bytes.
  case tooLarge(Int)
  /// Others than its owner and the daemon can read it.
  case readableByOthers
  /// It has no contents.
  case empty
  /// It is not text.
  case notText

  public var description: String {
    switch self {
    case .system(ENOENT): "does not exist"
    case .system(let error): "can't be read: \(SystemCallError.text(of: error))"
    case .notAFile: "is no plain file"
    case .tooLarge(let limit): "is larger than \(limit >> 10) KiB"
    case .readableByOthers: "can be read by others; chmod 600 it"
    case .empty: "is empty"
    case .notText: "is not valid UTF-8 without NUL characters"
    }
  }
}
