import Glibc
import Linux

/// Opening, reading and writing the files of a state. Links are not followed.
extension OwnedDescriptor {
  convenience init(opening path: String, _ flags: Int32, mode: mode_t = 0) throws(StoreOpenError) {
    var number: CInt
    repeat { number = open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode) } while number < 0 && errno == EINTR
    guard number >= 0 else { throw .unwritable(path: path) }
    self.init(number)
  }

  /// Opens a regular file for reading, without blocking. Throws if the path leads to a FIFO, a device or a directory.
  convenience init(readingFile path: String) throws(StoreOpenError) {
    try self.init(opening: path, O_RDONLY | O_NONBLOCK)
    try checkIsFile(path)
  }

  private func checkIsFile(_ name: String) throws(StoreOpenError) {
    var information = stat()
    guard fstat(raw, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw .unwritable("\(name) is no regular file")
    }
  }

  /// Returns the permission bits of the file.
  func permissions(path: String) throws(StoreOpenError) -> mode_t {
    var information = stat()
    guard fstat(raw, &information) == 0 else { throw .unwritable(path: path) }
    return information.st_mode & 0o7777
  }

  /// Returns the size of the file in bytes.
  func size(path: String) throws(StoreOpenError) -> Int {
    var information = stat()
    guard fstat(raw, &information) == 0 else { throw .unwritable(path: path) }
    return Int(information.st_size)
  }

  /// Removes the permission bits that `mode` does not contain.
  func restrict(to mode: mode_t, path: String) throws(StoreOpenError) {
    let current = try permissions(path: path)
    guard current & ~mode != 0 else { return }
    if fchmod(raw, current & mode) != 0 { throw .unwritable(path: path) }
  }

  /// Returns up to `count` bytes from an offset; `nil` at the end of the file or after an error.
  func read(_ count: Int, at offset: Int = 0) -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var length: Int
      repeat { length = pread(raw, buffer.baseAddress, count, off_t(offset)) } while length < 0 && errno == EINTR
      initialized = max(0, length)
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Writes all bytes.
  ///
  /// - Parameter isDurable: whether to wait until they are on the disk.
  func write(_ bytes: [UInt8], path: String, isDurable: Bool = true) throws(StoreOpenError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let length = rest.withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) }
      if length < 0 && errno == EINTR { continue }
      guard length > 0 else { throw .unwritable(path: path) }
      rest = rest.dropFirst(length)
    }
    if isDurable, fdatasync(raw) != 0 { throw .unwritable(path: path) }
  }
}
