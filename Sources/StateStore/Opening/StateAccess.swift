import Glibc
import Linux

/// The check whether the files of a state can be written, independent of their content.
public enum StateAccess {
  /// Returns whether a file can be created in the directory and the existing database files can be opened for writing.
  /// Must not be called while a store is open.
  public static func isWritable(_ directory: String) -> Bool {
    let probe = directory + "/.probe"
    unlink(probe)
    guard (try? OwnedDescriptor(opening: probe, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)) != nil else { return false }
    unlink(probe)
    return ["", "-wal", "-shm"].allSatisfy { ending in
      let path = directory + "/state.db" + ending
      if access(path, F_OK) != 0, errno == ENOENT { return true }
      return (try? OwnedDescriptor(opening: path, O_RDWR | O_NONBLOCK)) != nil
    }
  }
}

/// A lock on the directory of a state that can't be opened. It lasts for the lifetime of this object.
public final class StateHold: Sendable {
  private let directory: StateDirectory

  /// Locks the directory.
  ///
  /// - Throws: `stateInUse`, or the reason why the directory can't be used at all.
  public init(directory: String) throws(StoreOpenError) { self.directory = try StateDirectory(directory) }
}
