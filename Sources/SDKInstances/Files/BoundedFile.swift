import Glibc

/// A regular file read as a whole, up to a limit.
public struct BoundedFile: Sendable {
  /// The contents.
  public let bytes: [UInt8]
  /// The permissions and the owners of the file.
  public let mode: FileMode

  /// Reads a file of at most `limit` bytes. A pipe or device is refused without waiting for it.
  public init(reading path: String, limit: Int) throws(FileProblem) {
    guard !path.utf8.contains(0) else { throw .system(ENOENT) }
    // Without O_NONBLOCK, opening a pipe that has no writer would block the daemon.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .system(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    guard status.st_size <= limit else { throw .tooLarge(limit) }

    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(errno) }
      if count == 0 { break }
      bytes += chunk[..<count]
      guard bytes.count <= limit else { throw .tooLarge(limit) }
    }
    self.bytes = bytes
    mode = FileMode(bits: status.st_mode, owner: status.st_uid, group: status.st_gid)
  }
}
