import CLinux
import Glibc
import Linux

/// The file `root.key` in the state directory.
///
/// A new key is named `root.key.new` until the state that it seals is on disk. Therefore `root.key` without a database
/// means that the database was lost, and not that a first start was interrupted.
enum RootKeyFile {
  /// Returns the key of a state. Creates a key only for a new state, never for an existing one.
  static func key(in directory: StateDirectory, isNewState: Bool) throws(StoreOpenError) -> RootKey {
    if let key = try present(in: directory) { return key }
    guard isNewState else {
      if let key = try present(at: pending(in: directory)) { return key }
      throw .keyMissing(
        "The state in \(directory.path) needs its root key, and neither \(directory.rootKey) nor the credential sdkd.key "
          + "is there; put the key back and restart. Nothing was changed.")
    }
    try create(pending(in: directory), in: directory)
    return try read(pending(in: directory))
  }

  /// Returns the key in the file, or `nil` if there is no file.
  static func present(in directory: StateDirectory) throws(StoreOpenError) -> RootKey? {
    try present(at: directory.rootKey)
  }

  /// Returns the key in a file, or `nil` if there is no file.
  static func present(at path: String) throws(StoreOpenError) -> RootKey? {
    if access(path, F_OK) == 0 { return try read(path) }
    guard errno == ENOENT else { throw .unwritable(path: path) }
    return nil
  }

  /// Renames a new key to `root.key`, once the state that it seals is on disk.
  static func settle(in directory: StateDirectory) throws(StoreOpenError) {
    let (path, pending) = (directory.rootKey, pending(in: directory))
    guard access(pending, F_OK) == 0 else { return }
    if link(pending, path) != 0, errno != EEXIST { throw .unwritable(path: path) }
    unlink(pending)
    try directory.synchronize()
  }

  private static func pending(in directory: StateDirectory) -> String { directory.rootKey + ".new" }

  /// Overwrites and deletes the file. No key may be wrapped under it any more.
  static func remove(in directory: StateDirectory) throws(StoreOpenError) {
    let path = directory.rootKey
    let file = try OwnedDescriptor(opening: path, O_WRONLY)
    try file.write([UInt8](repeating: 0, count: RootKey.byteCount), path: path)
    if unlink(path) != 0 { throw .unwritable(path: path) }
    try directory.synchronize()
  }

  private static func read(_ path: String) throws(StoreOpenError) -> RootKey {
    let file = try OwnedDescriptor(opening: path, O_RDONLY)
    guard try file.permissions(path: path) & 0o077 == 0 else { throw .keyTooOpen(path: path) }
    var bytes = file.read(RootKey.byteCount + 1) ?? []
    defer { bytes.withUnsafeMutableBytes { cl_erase($0.baseAddress, $0.count) } }
    guard let key = RootKey(bytes: bytes) else {
      throw .keyMissing("The root key \(path) does not have \(RootKey.byteCount) bytes; put the right one back.")
    }
    return key
  }

  private static func create(_ path: String, in directory: StateDirectory) throws(StoreOpenError) {
    var generator = SystemRandomNumberGenerator()
    var bytes = (0..<RootKey.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
    defer { bytes.withUnsafeMutableBytes { cl_erase($0.baseAddress, $0.count) } }
    // A crash before the state was on disk left this file. The directory is locked, so no other process writes it.
    unlink(path)
    let file = try OwnedDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try file.write(bytes, path: path)
    try directory.synchronize()
  }
}
