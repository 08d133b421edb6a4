public import Glibc

/// The contents of a regular file of at most a given size, with its permissions. Static functions read the first bytes
/// of any file.
public struct BoundedFile: Sendable {
  /// The contents of the file.
  public let bytes: [UInt8]
  /// The permission bits, the owner and the group of the file.
  public let mode: FileMode

  /// Reads a regular file of at most `limit` bytes. Throws for a pipe or a device, without blocking on it.
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

  /// Returns the bytes of a descriptor from its current position to the end of the file.
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

  /// Returns at most the first `limit` bytes of a file as text; `nil` if it can't be read. Works for files in `/proc`,
  /// whose size is 0. Replaces invalid UTF-8 with U+FFFD.
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

/// The permission bits, the owner and the group of a file.
public struct FileMode: Sendable, Hashable {
  /// The permission bits.
  public var bits: mode_t
  /// The uid of the owner.
  public var owner: uid_t
  /// The gid of the group.
  public var group: gid_t

  /// Whether every user may write the file.
  public var isWritableByAnyone: Bool { bits & S_IWOTH != 0 }

  /// Whether users other than the file's owner, root and the daemon's user may read the file. Read access of the group
  /// does not count if root owns the file and the group is the daemon's: packages give a daemon read-only files in this
  /// way.
  public var isReadableByOthers: Bool {
    if bits & S_IROTH != 0 { return true }
    guard bits & S_IRGRP != 0 else { return false }
    return owner != 0 || group != getegid()
  }
}

/// The reason why a file could not be read. `description` continues a sentence that begins with "The file".
public enum FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// A system call failed with this error number.
  case system(Int32)
  /// The path leads to a directory, a pipe or a device.
  case notAFile
  /// The file is larger than this limit, in bytes.
  case tooLarge(Int)
  /// Users other than the file's owner, root and the daemon's user may read the file.
  case readableByOthers

  public var description: String {
    switch self {
    case .system(ENOENT): "does not exist"
    case .system(let error): "can't be read: \(SystemCallError.text(of: error))"
    case .notAFile: "is no plain file"
    case .tooLarge(let limit): "is larger than \(limit >> 10) KiB"
    case .readableByOthers: "can be read by others; chmod 600 it"
    }
  }
}
