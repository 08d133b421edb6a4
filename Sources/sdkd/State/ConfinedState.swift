import CLinux
import Glibc
import Linux
import StateStore

/// The directory of a state, accessed as its owner by a process that does nothing else.
///
/// Root must not follow paths in a directory that another user can change, or whose name another user can change. A
/// link, a journal of SQLite or a changed name there would make root read, overwrite or delete other files. So a root
/// process opens the directory, makes it its root directory, and becomes the owner before it opens a file in it.
struct ConfinedState {
  /// The directory's path in this process.
  let path: String
  private let outside: String

  /// Opens the directory. A root process then has only the owner's rights within the directory.
  ///
  /// - Returns: `nil` when the directory can't be found or opened, with the reason in `errno`.
  init?(_ state: String) throws(StoreOpenError) {
    guard let real = realpath(state, nil) else { return nil }
    defer { free(real) }
    outside = String(cString: real)
    guard geteuid() == 0 else {
      path = outside
      return
    }
    let directory = open(outside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else { return nil }
    defer { close(directory) }
    var information = stat()
    guard fstat(directory, &information) == 0 else { return nil }
    let status =
      information.st_uid == 0
      ? Self.enter(directory) : cl_confine(directory, information.st_uid, information.st_gid)
    guard status == 0 else {
      throw .unwritable("\(outside) can't be entered as its owner: \(SystemCallError.text(of: -status))")
    }
    path = "/"
  }

  /// Makes a directory of root's the root directory of the process, which keeps its rights. Returns 0, or a negative
  /// error number.
  private static func enter(_ directory: CInt) -> CInt {
    fchdir(directory) == 0 && chroot(".") == 0 && chdir("/") == 0 ? 0 : -errno
  }

  /// Returns a message whose paths are those outside of the new root directory.
  func shown(_ message: String) -> String { path == "/" ? message.replacing("//", with: outside + "/") : message }
}
