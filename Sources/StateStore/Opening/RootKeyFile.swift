import CLinux
import Glibc

/// `root.key` in the directory of the state.
enum RootKeyFile {
  /// The key of a state; a new one only for a new state, never for one that exists.
  static func key(in directory: StateDirectory, isNewState: Bool) throws(StoreOpenError) -> RootKey {
    if let key = try present(in: directory) { return key }
    let path = directory.rootKey
    guard isNewState else {
      throw .keyMissing(
        "The state in \(directory.path) needs its root key, and neither \(path) nor the credential sdkd.key is there; "
          + "put the key back and restart. Nothing was changed.")
    }
    try create(path, in: directory)
    return try read(path)
  }

  /// The key in the file, if there is one.
  static func present(in directory: StateDirectory) throws(StoreOpenError) -> RootKey? {
    let path = directory.rootKey
    if access(path, F_OK) == 0 { return try read(path) }
    guard errno == ENOENT else { throw .unwritable("\(path): \(FileDescriptor.text(of: errno))") }
    return nil
  }

  /// Overwrites and removes the file: nothing lies under its key any more.
  static func remove(in directory: StateDirectory) throws(StoreOpenError) {
    let path = directory.rootKey
    let file = try FileDescriptor(opening: path, O_WRONLY)
    try file.write([UInt8](repeating: 0, count: RootKey.byteCount), path: path)
    if unlink(path) != 0 { throw .unwritable("\(path): \(FileDescriptor.text(of: errno))") }
    try directory.synchronize()
  }

  private static func read(_ path: String) throws(StoreOpenError) -> RootKey {
    let file = try FileDescriptor(opening: path, O_RDONLY)
    guard try file.permissions(path: path) & 0o077 == 0 else { throw .keyTooOpen(path: path) }
    var bytes = file.read(RootKey.byteCount + 1) ?? []
    defer { bytes.withUnsafeMutableBytes { cl_erase($0.baseAddress, $0.count) } }
    guard let key = RootKey(bytes: bytes) else {
      throw .keyMissing("The root key \(path) does not have \(RootKey.byteCount) bytes; put the right one back.")
    }
    return key
  }

  /// Linked into place when it is whole and durable: half a key would be a lost key.
  private static func create(_ path: String, in directory: StateDirectory) throws(StoreOpenError) {
    var generator = SystemRandomNumberGenerator()
    var bytes = (0..<RootKey.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
    defer { bytes.withUnsafeMutableBytes { cl_erase($0.baseAddress, $0.count) } }
    let temporary = path + ".new"
    // Left behind by a crash; nobody else can be writing it, for the directory is locked.
    unlink(temporary)
    let file = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    defer { unlink(temporary) }
    try file.write(bytes, path: temporary)
    if link(temporary, path) != 0 { throw .unwritable("\(path): \(FileDescriptor.text(of: errno))") }
    unlink(temporary)
    try directory.synchronize()
  }
}
